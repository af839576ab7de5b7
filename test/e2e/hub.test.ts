import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { makeFolder, tempFolder } from '../support/home.ts';
import { flowright, flowrightJson, type Hub, MAIN, programEnv, ROOT, startHub } from '../support/program.ts';

const STOP_LIMIT_MS = 3_000;
/** Long enough for a busy machine to start a program. */
const START_LIMIT_MS = 20_000;

describe('a running hub', () => {
  const { folder: home, remove } = makeFolder();
  let hub: Hub;

  beforeAll(async () => {
    hub = await startHub({ home });
  });
  afterAll(async () => {
    await hub?.stop();
    remove();
  });

  it.each(['/health', '/api/v1/health', '/api/health'])('[FLR-hub-lifecycle] answers %s', async (path) => {
    const response = await fetch(new URL(path, hub.url));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('x-request-id')).toMatch(/\S/);
    expect(await response.text()).toBe('{"ok":true}');
  });

  it('[FLR-hub-lifecycle] prints its address and one sign-in link, and nothing else', () => {
    expect(hub.output().trimEnd().split('\n')).toEqual([`listening on ${hub.url}`, `sign in: ${hub.signinLink}`]);
    expect(hub.signinLink).toMatch(new RegExp(`^${hub.url}/signin\\?code=\\S{40,}$`));
  });

  it('[S002-6-openapi] describes its API as docs/openapi.yaml does', async () => {
    const served = await (await fetch(new URL('/api/v1/openapi.json', hub.url))).json();
    expect(served).toEqual(parse(readFileSync(join(ROOT, 'docs', 'openapi.yaml'), 'utf8')));
  });

  it('answers an unknown path with the envelope, with and without a token', async () => {
    const asked = await fetch(new URL('/nowhere', hub.url), { headers: { 'x-request-id': 'lost-1' } });
    expect(asked.status).toBe(404);
    expect(await asked.json()).toEqual({
      error: 'There is nothing at GET /nowhere.',
      code: 'NOT_FOUND',
      message: 'There is nothing at GET /nowhere.',
      details: {},
      request_id: 'lost-1',
    });
    const { token } = await flowrightJson<{ token: string }>(['token', 'create', '--user', 'local'], { home });
    const path = new URL('/api/v1/nowhere', hub.url);
    expect((await fetch(path)).status).toBe(401);
    const known = await fetch(path, { headers: { authorization: `Bearer ${token}` } });
    expect(known.status).toBe(404);
    expect(await known.json()).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('refuses a method that a path does not have, naming those it has', async () => {
    const response = await fetch(new URL('/api/v1/flows', hub.url), { method: 'DELETE' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, POST');
    expect(await response.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
  });

  it('[FLR-hub-lifecycle] a second one on its port says so in one line and ends with 2', async () => {
    const { port } = new URL(hub.url);
    const { status, stdout, stderr } = await flowright(['hub'], { home: tempFolder(), env: { FLOWRIGHT_PORT: port } });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toContain(port);
    expect(stderr).toContain('PORT_IN_USE');
  });

  it('signin prints a link to it, from the same home', async () => {
    const { link } = await flowrightJson<{ link: string }>(['signin'], { home });
    expect(link).toMatch(new RegExp(`^${hub.url}/signin\\?code=`));
    const response = await fetch(link, { redirect: 'manual' });
    expect(response.status).toBe(303);
  });
});

describe('[FLR-hub-lifecycle] a hub that is told to stop ends with 0 in good time', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('on %s, and takes its lock file along', async (signal) => {
    const { hub, home } = await freshHub();
    expect(readdirSync(home).some((name) => /^hub\.\d+\.lock$/.test(name))).toBe(true);
    expect(await stopped(hub, signal)).toBe(0);
    expect(readdirSync(home).some((name) => /^hub\.\d+\.lock$/.test(name))).toBe(false);
  });

  it('while a keep-alive connection is open', async () => {
    const { hub } = await freshHub();
    const socket = await connected(hub);
    const answered = new Promise((done) => socket.once('data', done));
    socket.write('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n');
    await answered;
    expect(await stopped(hub, 'SIGINT')).toBe(0);
  });

  it('while a connection is open on which nothing was asked yet, as browsers keep them', async () => {
    const { hub } = await freshHub();
    await connected(hub);
    expect(await stopped(hub, 'SIGINT')).toBe(0);
  });

  it('while somebody is slow to send a request', async () => {
    const { hub } = await freshHub();
    const socket = await connected(hub);
    await new Promise((sent) => socket.write('GET /health HTTP/1.1\r\nHost: 127.0', sent));
    expect((await fetch(new URL('/health', hub.url))).status).toBe(200);
    expect(await stopped(hub, 'SIGTERM')).toBe(0);
  });
});

describe('[FLR-hub-lifecycle] a hub whose identity is nobody’s', () => {
  it('says so and ends, instead of running on half started', async () => {
    const env = { ...programEnv({ home: tempFolder() }), FLOWRIGHT_IDENTITY: 'nobody', FLOWRIGHT_PORT: '0' };
    const child = spawn(process.execPath, [MAIN, 'hub'], { env });
    onTestFinished(() => void child.kill('SIGKILL'));
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      stderr += chunk;
    });
    const ended = new Promise<number | null | string>((end) => child.once('close', (code) => end(code)));
    const limit = new Promise<string>((end) => setTimeout(() => end('still running'), START_LIMIT_MS).unref());
    expect.soft(await Promise.race([ended, limit])).toBe(1);
    expect(stderr).toContain('nobody');
  });

  it('gets no sign-in link either, and is told why', async () => {
    const { status, stdout, stderr } = await flowright(['signin'], {
      home: tempFolder(),
      env: { FLOWRIGHT_IDENTITY: 'nobody' },
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('nobody');
  });
});

describe('listening beyond this machine', () => {
  it('[FLR-hub-lifecycle] is refused unless allow_remote says so', async () => {
    const env = { FLOWRIGHT_HOST: '0.0.0.0', FLOWRIGHT_PORT: '0' };
    const { status, stdout, stderr } = await flowright(['hub'], { home: tempFolder(), env });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('CONFIG_INVALID');
    expect(stderr).toContain('FLOWRIGHT_ALLOW_REMOTE');
  });

  it('works when it does', async () => {
    const home = tempFolder();
    const hub = await startHub({ home, env: { FLOWRIGHT_HOST: '0.0.0.0', FLOWRIGHT_ALLOW_REMOTE: 'true' } });
    onTestFinished(async () => void (await hub.stop()));
    const { port } = new URL(hub.url);
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  });
});

async function freshHub(): Promise<{ hub: Hub; home: string }> {
  const home = tempFolder();
  const hub = await startHub({ home });
  onTestFinished(() => void hub.child.kill('SIGKILL'));
  return { hub, home };
}

/** The exit code, or a sentence when it took too long. */
function stopped(hub: Hub, signal: NodeJS.Signals): Promise<number | null | string> {
  return new Promise((settle) => {
    const limit = setTimeout(() => settle(`still running after ${STOP_LIMIT_MS} ms`), STOP_LIMIT_MS);
    hub.child.once('exit', (code) => {
      clearTimeout(limit);
      settle(code);
    });
    hub.child.kill(signal);
  });
}

function connected(hub: Hub): Promise<Socket> {
  return new Promise((ready, fail) => {
    const socket = createConnection(Number(new URL(hub.url).port), '127.0.0.1', () => ready(socket));
    socket.once('error', fail);
    onTestFinished(() => void socket.destroy());
  });
}
