import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONVERSATION_OPS } from '../support/chatflow-scene.ts';
import { makeStore, type TestStore } from '../support/databases.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';
import { type Person, personAt } from '../support/person.ts';
import { flowright, type ProgramOptions } from '../support/program.ts';
import { HAS_TMUX, openTerminal, type Terminal } from '../support/terminal.ts';

const ESCAPE = '\u001b';
const YELLOW = new RegExp(`${ESCAPE}\\[[\\d;]*33m`);
const GREEN = new RegExp(`${ESCAPE}\\[[\\d;]*32m`);

let store: TestStore;
let fake: FakeFlowise;
let options: ProgramOptions;
let person: Person;
let chatflow_id: string;

beforeAll(async () => {
  store = await makeStore('sqlite');
  fake = await startFakeFlowise({ credentials: [{ name: 'model key', credentialName: 'openAIApi' }] });
  options = { home: store.home, env: { FLOWISE_API_URL: fake.url, FLOWISE_API_KEY: fake.apiKey } };
  person = personAt(options);
});
afterAll(async () => {
  await fake?.close();
  await store?.remove();
});

const file = (name: string, value: unknown): string => {
  const path = join(store.home, name);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
};
const relabelled = (label: string) =>
  file('relabel.json', { ops: [{ op_type: 'set_label', node_id: 'chatOpenAI_0', label }] });
const writes = () => fake.requests.count('POST', '/chatflows') + fake.requests.count('PUT', '/chatflows/:id');

/** What the terminal shows at the end, and what was pressed before. */
async function atTerminal(args: string[], act: (terminal: Terminal) => Promise<void> = async () => {}) {
  const folder = join(store.home, `terminal-${Date.now()}`);
  mkdirSync(folder);
  const terminal = await openTerminal(folder, args, options);
  try {
    await act(terminal);
    return await terminal.shows(/ended with \d/);
  } finally {
    await terminal.close();
  }
}

describe('[FLR-chatflow-command] a change from a file', () => {
  it('is refused where nobody can answer, and written with --yes', async () => {
    const apply = ['chatflow', 'apply', file('ops.json', CONVERSATION_OPS), '--name', 'Talk'];
    const unanswered = await person.types(apply);
    expect(unanswered.status).toBe(1);
    expect(unanswered.stderr).toContain('+ node chatOpenAI_0');
    expect(unanswered.stderr).toMatch(/Write this to default\. Repeat the command with --yes\..*CONFIRMATION_REQUIRED/);
    expect(await person.isRefused(apply)).toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
    expect(writes()).toBe(0);
    const done = await person.types([...apply, '--yes']);
    expect([done.status, writes()], done.stderr).toEqual([0, 1]);
    expect(done.stdout).toMatch(/^Made Talk on default: .*\nid +\S+\nversion +1\n/);
    chatflow_id = [...fake.rows.chatflows.keys()][0] as string;
  });

  it.skipIf(!HAS_TMUX)('is shown in colour on a terminal by compile, which writes nothing', async () => {
    const screen = await atTerminal(['patch', 'compile', relabelled('Seen'), '--chatflow-id', chatflow_id]);
    expect(screen).toContain('ended with 0');
    expect(screen).toContain('Nothing was written.');
    expect(screen).toContain('label: "OpenAI" -> "Seen"');
    expect(screen).toMatch(YELLOW);
    const added = await atTerminal(['patch', 'compile', file('ops.json', CONVERSATION_OPS)]);
    expect(added.split('\n').find((line) => line.includes('node chatOpenAI_0'))).toMatch(GREEN);
    expect(writes()).toBe(1);
  });

  it.skipIf(!HAS_TMUX)('is asked about on a terminal: no is no, yes writes exactly what was shown', async () => {
    const apply = ['chatflow', 'apply', relabelled('Asked'), '--chatflow-id', chatflow_id];
    const refused = await atTerminal(apply, async (terminal) => {
      const asked = await terminal.shows(/Write this to default\? \[y\/N\]/);
      expect(asked).toContain('"Asked"');
      expect(asked).not.toContain('Nothing was written');
      await terminal.presses('n', 'Enter');
    });
    expect(refused).toContain('ended with 1');
    expect(writes()).toBe(1);
    const agreed = await atTerminal(apply, async (terminal) => {
      await terminal.shows(/Write this to default\? \[y\/N\]/);
      await terminal.presses('y', 'Enter');
    });
    expect(agreed).toContain('ended with 0');
    expect(agreed).toContain('Changed Talk on default: 1 label changed');
    expect(writes()).toBe(2);
  });

  it('is not asked about when it names what was compiled, and prints its payload with --json', async () => {
    const change = [relabelled('Compiled'), '--chatflow-id', chatflow_id];
    const { base_hash, payload_hash } = await person.asks<Record<string, string>>(['patch', 'compile', ...change]);
    const hashes = ['--base-hash', String(base_hash), '--payload-hash', String(payload_hash)];
    const before = writes();
    expect(await person.asks(['chatflow', 'apply', ...change, ...hashes])).toMatchObject({
      ok: true,
      chatflow_id,
      payload_hash,
      created: false,
    });
    expect(writes()).toBe(before + 1);
    const stale = await person.isRefused(['chatflow', 'apply', ...change, ...hashes]);
    expect(stale).toMatchObject({ code: 'chatflow_conflict', details: { base_hash } });
    expect(stale.details.current_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(writes()).toBe(before + 1);
  });

  it('that does not compile ends with 1 and writes nothing', async () => {
    const before = writes();
    const bad = file('bad.json', [
      { op_type: 'set_param', node_id: 'chatOpenAi_0', param_name: 'modelName', value: 'x' },
    ]);
    for (const command of [
      ['patch', 'compile'],
      ['chatflow', 'apply', '--yes'],
    ]) {
      const { status, stdout, stderr } = await person.types([...command, bad, '--chatflow-id', chatflow_id]);
      expect(status, stderr).toBe(1);
      expect(`${stdout}${stderr}`).toContain('chatOpenAI_0');
    }
    const asJson = await person.isRefused(['chatflow', 'apply', bad, '--chatflow-id', chatflow_id]);
    expect(asJson).toMatchObject({ code: 'PATCH_INVALID' });
    const garbage = await person.types(['patch', 'compile', file('garbage.json', '{"nodes": 1}')]);
    expect([garbage.status, garbage.stderr]).toEqual([1, expect.stringContaining('list of patch operations')]);
    expect(writes()).toBe(before);
  });

  it('ends with 2 when Flowise cannot be asked', async () => {
    const env = { ...options.env, FLOWISE_API_URL: 'http://127.0.0.1:9' };
    const { status, stderr } = await flowright(['chatflow', 'list'], { ...options, env });
    expect([status, stderr]).toEqual([2, expect.stringContaining('FLOWISE_UNREACHABLE')]);
  });
});

describe('[FLR-chatflow-command] chatflow validate', () => {
  it('ends with 0 for a chatflow that can work, and with 1 for a flow that cannot', async () => {
    const good = await person.types(['chatflow', 'validate', '--chatflow-id', chatflow_id]);
    expect([good.status, good.stdout]).toEqual([0, expect.stringMatching(/^Valid: 3 nodes, 2 connections\./)]);
    const flow = JSON.parse(fake.rows.chatflows.get(chatflow_id)?.flowData ?? '');
    const torn = file('torn.json', { ...flow, edges: [{ ...flow.edges[0], source: 'nobody_0' }] });
    const bad = await person.types(['chatflow', 'validate', torn]);
    expect([bad.status, bad.stdout]).toEqual([1, expect.stringMatching(/^Not valid: \d+ errors?\.\nerror {3}\//)]);
    const asJson = await person.types(['chatflow', 'validate', torn, '--json']);
    expect([asJson.status, JSON.parse(asJson.stdout).valid]).toEqual([1, false]);
  });
});

describe('[FLR-chatflow-export-files] chatflow export', () => {
  const contents = (folder: string) =>
    Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

  it('writes one readable file a chatflow, and the same bytes when nothing changed', async () => {
    fake.rows.addChatflow({ name: '../../Odd / name', flowData: { nodes: [], edges: [] } as never });
    const out = join(store.home, 'exported');
    expect(await person.reads(['chatflow', 'export', '--out', out])).toBe(`2 chatflows written to ${out}\n`);
    const first = contents(out);
    expect(Object.keys(first).sort()).toEqual([
      expect.stringMatching(/^odd-name\.[0-9a-f-]+\.json$/),
      `talk.${chatflow_id}.json`,
    ]);
    const talk = first[`talk.${chatflow_id}.json`] ?? '';
    expect(JSON.parse(talk)).toMatchObject({ chatflow_id, name: 'Talk', flow: { nodes: expect.any(Array) } });
    expect(talk.split('\n').length).toBeGreaterThan(100);
    // The order of keys is Flowise's own affair, and the stamp of a write is ours.
    const row = fake.rows.chatflows.get(chatflow_id);
    const { nodes, edges, ...rest } = JSON.parse(row?.flowData ?? '');
    if (row) row.flowData = JSON.stringify({ edges, ...rest, flowright: { write_id: 'another' }, nodes }, null, 1);
    const again = await person.asks<{ folder: string; files: string[] }>(['chatflow', 'export', '--out', out]);
    expect([...again.files].sort()).toEqual(Object.keys(first).sort());
    expect(contents(out)).toEqual(first);
  });

  it('can be judged and applied again: a new chatflow has the name and kind that it had', async () => {
    const out = join(store.home, 'exported');
    const exported = join(out, `talk.${chatflow_id}.json`);
    expect((await person.types(['chatflow', 'validate', exported])).stdout).toMatch(/^Valid: 3 nodes, 2 connections/);
    const done = await person.asks<{ name: string; created: boolean; chatflow_id: string }>([
      ...['chatflow', 'apply', exported, '--yes'],
    ]);
    expect(done).toMatchObject({ name: 'Talk', created: true });
    expect(fake.rows.chatflows.get(done.chatflow_id)).toMatchObject({ name: 'Talk', type: 'CHATFLOW' });
  });

  it('is refused where nothing can be written, before the server is asked', async () => {
    const before = fake.requests.count();
    const { status, stderr } = await person.types(['chatflow', 'export', '--out', '/proc/nope']);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/\/proc\/nope is no folder.*--out/)]);
    expect(fake.requests.count()).toBe(before);
  });
});
