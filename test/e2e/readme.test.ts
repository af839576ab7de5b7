import { execFile } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONVERSATION_OPS } from '../support/chatflow-scene.ts';
import { makeStore, type TestStore } from '../support/databases.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';
import { makeFolder } from '../support/home.ts';
import {
  type Finished,
  flowright,
  flowrightJson,
  type Hub,
  MAIN,
  programEnv,
  ROOT,
  startHub,
} from '../support/program.ts';

/** Commands of the README's code blocks, in order. */
const COMMANDS = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(
  ([, block]) => (block ?? '').trim().split('\n'),
);

/** Shows what it would do, and asks. */
const ASKS = /^npx flowright chatflow apply/;

describe('every command of the README works as written', () => {
  const { folder, remove } = makeFolder();
  let store: TestStore;
  let hub: Hub;
  let token: string;
  /** Stands where the README says that Flowise is. */
  let flowise: FakeFlowise;

  beforeAll(async () => {
    store = await makeStore('sqlite');
    flowise = await startFakeFlowise({ credentials: [{ name: 'model key', credentialName: 'openAIApi' }] });
    await hasChatflow();
    hub = await startHub({ home: store.home });
    ({ token } = await flowrightJson<{ token: string }>(
      ['token', 'create', '--user', 'reader', '--role', 'viewer'],
      store,
    ));
  });

  afterAll(async () => {
    await hub?.stop();
    await flowise?.close();
    await store?.remove();
    remove();
  });

  const flowiseEnv = () => ({ FLOWISE_API_URL: flowise.url, FLOWISE_API_KEY: flowise.apiKey });
  /** A chatflow, and a change to it in a file, as a reader has them. */
  const hasChatflow = async () => {
    const ops = join(folder, 'new.json');
    writeFileSync(ops, JSON.stringify(CONVERSATION_OPS));
    const made = ['chatflow', 'apply', ops, '--name', 'Talk', '--yes'];
    await flowrightJson(made, { home: store.home, env: flowiseEnv() });
    const change = [{ op_type: 'set_label', node_id: 'chatOpenAI_0', label: 'Model' }];
    writeFileSync(join(folder, 'ops.json'), JSON.stringify(change));
  };

  /** The line as a shell reads it, in a folder of its own, by somebody whose editor rewords the title. */
  const typed = async (line: string): Promise<Finished> => {
    const editor = join(folder, 'editor.sh');
    writeFileSync(editor, `sed -i 's/^intent: .*/intent: Clearer/; s/^  title: .*/  title: Capture to note/' "$1"`);
    const words = line.replace(/^npx flowright/, `'${process.execPath}' '${MAIN}'`);
    const command = await withIds(words);
    const env = programEnv({ home: store.home, env: { EDITOR: `sh ${editor}`, VISUAL: '', ...flowiseEnv() } });
    return new Promise((finish) => {
      const child = execFile('sh', ['-c', command], { cwd: folder, env }, (_error, stdout, stderr) => {
        finish({ status: child.exitCode, stdout, stderr });
      });
      child.stdin?.end();
    });
  };
  /** A reader puts in what the command before has shown. */
  const withIds = async (words: string): Promise<string> => {
    if (/\bTASK_ID\b/.test(words)) return words.replace(/\bTASK_ID\b/, await waitingTask());
    if (/ (patch|chatflow) .*\bID\b/.test(words)) return words.replace(/\bID\b/, await chatflow());
    return /\bID\b/.test(words) ? words.replace(/\bID\b/, await newestProposal()) : words;
  };
  const waitingTask = async () => {
    const { items } = await flowrightJson<{ items: { task_id: number }[] }>(['task', 'list'], store);
    return String(items[0]?.task_id ?? 'TASK_ID');
  };
  const chatflow = async () => [...flowise.rows.chatflows.keys()][0] ?? 'ID';
  const newestProposal = async () => {
    const { proposals } = await flowrightJson<{ proposals: { proposal_id: string }[] }>(['proposal', 'list'], store);
    return proposals[0]?.proposal_id ?? 'ID';
  };

  it('opens with the two commands that do everything', () => {
    expect(COMMANDS.slice(0, 2)).toEqual(['npm install && npm start', 'npm install && npm test']);
  });

  it.each(COMMANDS.filter((line) => line.startsWith('npx flowright') && !ASKS.test(line)))('%s', async (line) => {
    const { status, stderr, stdout } = await typed(line);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.length).toBeGreaterThan(0);
  });

  it.each(COMMANDS.filter((line) => ASKS.test(line)))('%s', async (line) => {
    const unanswered = await typed(line);
    expect(unanswered.status, 'where nobody can answer').toBe(1);
    expect(unanswered.stderr).toContain('CONFIRMATION_REQUIRED');
    const { status, stdout, stderr } = await typed(line.replace(ASKS, '$& --yes'));
    expect({ status, stderr: /\+|->|→/.test(stderr) }, stderr).toEqual({ status: 0, stderr: true });
    expect(stdout).toMatch(/^Changed Talk on default/);
  });

  it('[FLR-flow-edit] which changed the flow, by a proposal that was approved', async () => {
    const get = ['flow', 'get', 'flow_capture_to_note'];
    const { flow } = await flowrightJson<{ flow: { title: string; version: string } }>(get, store);
    expect(flow).toMatchObject({ title: 'Capture to note', version: '0.1.1' });
    const { stdout } = await flowright(['proposal', 'list', '--status', 'approved'], store);
    expect(stdout).toContain('edit flow_capture_to_note 0.1.1 [personal]  local  Clearer');
    const rule = readFileSync(join(folder, '.cursor', 'rules', 'capture-to-note.mdc'), 'utf8');
    expect(rule, 'and wrote the rule where it says').toContain('flow_capture_to_note@0.1.1');
  });

  it.each(COMMANDS.filter((line) => line.startsWith('curl')))('%s', async (line) => {
    const url = /http:\/\/127\.0\.0\.1:7480(\S+)/.exec(line)?.[1] ?? '';
    const response = await fetch(hub.url + url, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
  });

  it.each(COMMANDS.filter((line) => line.startsWith('FLOWRIGHT_HUB=')))('%s', async (line) => {
    const args = line.split(' npx flowright ')[1]?.split(' ') ?? [];
    const env = { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token };
    const { status, stdout } = await flowright(args, { home: store.home, env });
    expect(status).toBe(0);
    expect(stdout).toContain('flow_capture_to_note');
  });

  it('and every page it points to is there', () => {
    const links = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/\]\(([^)#]+)\)/g)].map(([, to]) => to);
    expect(links.length).toBeGreaterThan(5);
    for (const link of links) {
      if (!/^https?:/.test(link ?? '')) expect(() => statSync(join(ROOT, link ?? '')), link).not.toThrow();
    }
  });
});
