import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder, tempFolder } from '../support/home.ts';
import { flowrightJson, type Hub, MAIN, programEnv, startHub } from '../support/program.ts';

type Message = Record<string, unknown> & { result?: Record<string, unknown> };

const initialize = (protocolVersion: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'by hand', version: '1.0.0' } },
});
const call = (name: string) => ({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: {} } });

describe('[FLR-mcp-old-and-new] MCP by hand over HTTP', () => {
  const { folder: home, remove } = makeFolder();
  let hub: Hub;
  let token: string;

  beforeAll(async () => {
    ({ token } = await flowrightJson<{ token: string }>(['token', 'create', '--user', 'local'], { home }));
    hub = await startHub({ home });
  });
  afterAll(async () => {
    await hub?.stop();
    remove();
  });

  const send = (method: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(new URL('/mcp', hub.url), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  it.each(['2025-03-26', '2025-06-18', '2025-11-25'])(
    'initialize at %s is answered at that version',
    async (version) => {
      const response = await send('POST', initialize(version));
      expect(response.status).toBe(200);
      expect((await messageOf(response)).result).toMatchObject({
        protocolVersion: version,
        serverInfo: { name: 'flowright' },
        capabilities: { tools: {} },
      });
      const accepted = await send(
        'POST',
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { 'mcp-protocol-version': version },
      );
      expect(accepted.status).toBe(202);
      const answer = await messageOf(await send('POST', call('whoami'), { 'mcp-protocol-version': version }));
      expect(answer.result?.structuredContent).toMatchObject({ user_id: 'local', kind: 'agent' });
    },
  );

  it('a version nobody knows is offered the newest that both can speak', async () => {
    const { result } = await messageOf(await send('POST', initialize('1999-01-01')));
    expect(result?.protocolVersion).toMatch(/^20\d\d-\d\d-\d\d$/);
  });

  it.each(['GET', 'DELETE'])('%s is answered without a failure of the server', async (method) => {
    const response = await send(method);
    expect(response.status).toBeGreaterThanOrEqual(200);
    expect(response.status).toBeLessThan(500);
    await response.body?.cancel();
  });

  it('without a token it is 401 and says how to authenticate, also with a wrong one', async () => {
    for (const authorization of ['', 'Bearer flw_wrong', 'Basic bG9jYWw6']) {
      const response = await send('POST', initialize('2025-11-25'), { authorization });
      expect(response.status, authorization).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
      expect(await response.json()).toMatchObject({ code: 'UNAUTHORIZED' });
    }
  });

  it.each([
    ['no JSON-RPC', { hello: 'world' }],
    ['a text', 'hello'],
    ['an empty list', []],
    ['an unknown method', { jsonrpc: '2.0', id: 3, method: 'nonsense' }],
  ])('%s is refused, not failed', async (_what, body) => {
    const response = await send('POST', body);
    expect(response.status).toBeLessThan(500);
    expect(await response.text()).toContain('error');
  });
});

describe('[FLR-mcp-old-and-new] MCP by hand over stdio', () => {
  it('writes protocol messages and nothing else to stdout, also on first use of a home', async () => {
    const server = start(tempFolder());
    server.say(initialize('2025-06-18'));
    server.say({ jsonrpc: '2.0', method: 'notifications/initialized' });
    server.say(call('flow_list'));
    server.say({ jsonrpc: '2.0', id: 3, method: 'tools/list' });
    await server.until(3);
    expect(await server.end()).toBe(0);
    const messages = server
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Message);
    expect(messages.map(({ jsonrpc }) => jsonrpc)).toEqual(['2.0', '2.0', '2.0']);
    expect(new Set(messages.map(({ id }) => id))).toEqual(new Set([1, 2, 3]));
  });

  it('ends when the client closes its end, without having been asked anything', async () => {
    const server = start(tempFolder());
    expect(await server.end()).toBe(0);
    expect(server.stdout()).toBe('');
  });

  it('answers what is no JSON and goes on', async () => {
    const server = start(tempFolder());
    server.write('this is no JSON\n');
    server.say(initialize('2025-11-25'));
    await server.until(1);
    expect(await server.end()).toBe(0);
    for (const line of server.stdout().trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('jsonrpc', '2.0');
  });

  it('says on stderr what is wrong with the settings, and leaves stdout alone', async () => {
    const server = start(tempFolder(), { FLOWRIGHT_PORT: 'none' });
    expect(await server.end()).toBe(1);
    expect(server.stdout()).toBe('');
    expect(server.stderr()).toContain('CONFIG_INVALID');
  });
});

/** The first message of an answer, whether it came as JSON or as an event. */
async function messageOf(response: Response): Promise<Message> {
  const text = await response.text();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as Message;
}

function start(home: string, env: Record<string, string> = {}) {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [MAIN, 'mcp'], {
    env: programEnv({ home, env }),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk) => {
      output[stream] += chunk;
    });
  }
  child.stdin.on('error', () => {});
  const closed = new Promise<number | null>((end) => child.once('close', (code) => end(code)));
  const lines = () => output.stdout.split('\n').length - 1;
  return {
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    write: (text: string) => void child.stdin.write(text),
    say: (message: unknown) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    until: (count: number) =>
      new Promise<void>((reached) => {
        const look = (): void => void (lines() >= count && reached());
        child.stdout.on('data', look);
        look();
      }),
    end: () => {
      child.stdin.end();
      return closed;
    },
  };
}
