import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { tempFolder } from '../support/home.ts';
import { type Person, personAt } from '../support/person.ts';
import { HAS_TMUX, openTerminal } from '../support/terminal.ts';

const ON = { FLOW_AUTHORING_WRITES: '1' };
const ESC = '\u001b';
const FLOW = 'flow_seen';

describe.skipIf(!HAS_TMUX)('in a real terminal (skipped where tmux is missing)', () => {
  let store: TestStore;
  let owner: Person;
  let folder: string;

  beforeAll(async () => {
    store = await makeStore('sqlite');
    owner = personAt({ home: store.home, env: ON });
    for (const [version, instruction] of [
      ['1.0.0', 'Read the old words.'],
      ['1.1.0', `Read the new words.${ESC}[2J${ESC}]0;owned\u0007`],
    ] as const) {
      const bundle = sampleFlow(FLOW, { version, instruction, steps: 1 });
      const base = version === '1.0.0' ? [] : await baseOf(FLOW);
      const proposed = ['flow', 'propose', '-', '--intent', 'For the eyes', ...base];
      const { proposal_id } = await owner.asks<{ proposal_id: string }>(proposed, JSON.stringify(bundle));
      await owner.asks(['proposal', 'approve', proposal_id]);
    }
  });
  afterAll(() => store?.remove());
  beforeEach(() => {
    folder = tempFolder();
    mkdirSync(join(folder, 'tmp'));
  });

  const baseOf = async (flowId: string) => {
    const { versions } = await owner.asks<{ versions: { version: string; state_id: string }[] }>([
      ...['flow', 'versions', flowId],
    ]);
    return ['--base-version', versions[0]?.version ?? '', '--base-state-id', versions[0]?.state_id ?? ''];
  };
  const open = async (args: string[], env: Record<string, string> = {}) => {
    const terminal = await openTerminal(folder, args, {
      home: store.home,
      env: { ...ON, TMPDIR: join(folder, 'tmp'), VISUAL: '', ...env },
    });
    onTestFinished(() => terminal.close());
    return terminal;
  };

  /** Makes three mistakes the first time it is opened, and mends them the second time. */
  const clumsyEditor = () => {
    const file = join(folder, 'clumsy.sh');
    const again = join(folder, 'again');
    writeFileSync(
      file,
      `if [ -e '${again}' ]; then
         sed -i 's/^  title: .*/  title: Seen at last/; s/galaxy/personal/; s/sometimes/manual/' "$1"
       else
         touch '${again}'
         sed -i 's/^intent: .*/intent: Look/; s/^  title: .*/  title: ""/; s/^  scope: .*/  scope: galaxy/; s/automatable: .*/automatable: sometimes/' "$1"
       fi`,
    );
    return { EDITOR: `sh ${file}` };
  };
  const drafts = () => readdirSync(join(folder, 'tmp'));
  const proposals = async () =>
    (await owner.asks<{ proposals: unknown[] }>(['proposal', 'list', '--status', 'proposed'])).proposals;

  it('[FLR-flow-edit] a refused draft can be edited again, with every mistake in view', async () => {
    const terminal = await open(['flow', 'edit', FLOW], clumsyEditor());
    const asked = await terminal.shows(/Edit again\? \[Y\/n\]/);
    for (const place of ['/flow/title', '/flow/scope', '/steps/0/automatable']) expect(asked).toContain(`  ${place} `);
    await terminal.presses('Enter');
    expect(await terminal.shows(/ended with/)).toMatch(/proposed: flow_seen \[personal\], based on 1\.1\.0/);
    expect(await terminal.shows(/ended with 0/)).toContain('flowright proposal approve');
    expect(drafts()).toEqual([]);
    const [proposal] = (await proposals()) as { proposal_id: string }[];
    await owner.asks(['proposal', 'withdraw', proposal?.proposal_id ?? '']);
  });

  it.each([
    ['n', ['n', 'Enter']],
    ['Ctrl-C', ['C-c']],
    ['Ctrl-D', ['C-d']],
  ])('[FLR-flow-edit] %s gives up for now: nothing is proposed, and the draft is where it says', async (_, keys) => {
    const terminal = await open(['flow', 'edit', FLOW], clumsyEditor());
    await terminal.shows(/Edit again\? \[Y\/n\]/);
    await terminal.presses(...keys);
    const shown = await terminal.shows(/ended with/);
    expect(shown).toContain('Your draft is kept');
    const [, draft] = /--draft ([^\s`]+)/.exec(shown) ?? [];
    expect(readFileSync(draft ?? '', 'utf8')).toContain('galaxy');
    expect(shown).toContain('ended with 1');
    expect(await proposals()).toEqual([]);
  });

  it('asks before it removes something, and takes Ctrl-C for a no', async () => {
    await owner.asks(['user', 'create', 'sam']);
    const terminal = await open(['user', 'disable', 'sam']);
    await terminal.shows(/Go on\? \[y\/N\]/);
    await terminal.presses('C-c');
    const shown = await terminal.shows(/ended with/);
    expect(shown).toContain('CONFIRMATION_REQUIRED');
    expect(shown).toContain('ended with 1');
    const { users } = await owner.asks<{ users: { user_id: string; disabled_at: string | null }[] }>(['user', 'list']);
    expect(users.find(({ user_id }) => user_id === 'sam')).toMatchObject({ disabled_at: null });
  });

  it('[FLR-diff] flow diff is coloured, and what others wrote cannot colour, clear or rename anything', async () => {
    const shown = await (await open(['flow', 'diff', FLOW])).shows(/ended with 0/);
    expect(shown).toContain(`${ESC}[31m`);
    expect(shown).toContain(`${ESC}[32m`);
    expect(shown).toContain('\\u001b[2J');
    expect(shown).toContain('\\u001b]0;owned\\u0007');
    expect(shown, 'the screen was not cleared').toContain('flow_seen 1.0.0 → 1.1.0');
  });

  it('[FLR-diff] NO_COLOR, a pipe and --json have no colours', async () => {
    const plain = await (await open(['flow', 'diff', FLOW], { NO_COLOR: '1' })).shows(/ended with 0/);
    expect(plain).not.toContain(ESC);
    expect(await owner.reads(['flow', 'diff', FLOW])).not.toContain(ESC);
  });

  it('opens the editor on the terminal itself, so that a person can type in it', async () => {
    const editor = join(folder, 'asks.sh');
    writeFileSync(
      editor,
      `printf 'title? '; read -r title; sed -i "s/^  title: .*/  title: $title/; s/^intent: .*/intent: typed/" "$1"`,
    );
    const terminal = await open(['flow', 'edit', FLOW], { EDITOR: `sh ${editor}` });
    await terminal.shows(/title\?/);
    await terminal.presses('Typed by hand', 'Enter');
    await terminal.shows(/ended with 0/);
    const [proposal] = (await proposals()) as { proposal_id: string; intent: string }[];
    expect(proposal).toMatchObject({ intent: 'typed' });
    expect(await owner.reads(['proposal', 'diff', proposal?.proposal_id ?? ''])).toContain('Typed');
    expect(existsSync(join(folder, 'tmp')) && drafts()).toEqual([]);
  });
});
