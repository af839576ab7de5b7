import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FlowBundle } from '../../src/flows/index.ts';
import { makeStore } from '../support/databases.ts';
import { type Desk, setDesk } from '../support/editing.ts';
import { sampleFlow } from '../support/flows.ts';
import { tempFolder } from '../support/home.ts';
import { approve, type Office, openOffice, proposeEdit, proposeNew } from '../support/office.ts';
import { flowright, MAIN, startHub } from '../support/program.ts';

const FLOW = 'flow_research_brief';
const ON = { FLOW_AUTHORING_WRITES: '1' };

let office: Office;
let folder: string;
let desk: Desk;
beforeAll(async () => {
  office = await openOffice(() => makeStore('sqlite'), ON);
});
afterAll(() => office?.close());
beforeEach(() => {
  folder = tempFolder();
  desk = setDesk(folder, { home: office.store.home, env: ON });
});

const proposed = async () =>
  (
    await office.owner.asks<{ proposals: { proposal_id: string; intent: string }[] }>([
      ...['proposal', 'list', '--status', 'proposed'],
    ])
  ).proposals;
/** A flow of the library, approved. */
const land = async (bundle: FlowBundle) => approve(office.ann, (await proposeNew(office.ed, bundle)).proposal_id);

describe('[FLR-flow-edit] any editor will do', () => {
  it('one with arguments, quotes and spaces in its path, which gets the file as one word', async () => {
    const editor = join(folder, 'my editor.mjs');
    writeFileSync(
      editor,
      `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
       const [flag, words, file, ...more] = process.argv.slice(2);
       if (flag !== '--say' || more.length > 0) process.exit(9);
       const text = readFileSync(file, 'utf8').replace(/^intent: .*$/m, 'intent: ' + JSON.stringify(words));
       writeFileSync(file, text.replace(/^ {2}title: .*$/m, '  title: Said'));`,
    );
    const { status, stderr } = await desk.edit(FLOW, `'${process.execPath}' "${editor}" --say 'two words; $(false)'`);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [newest] = await proposed();
    expect(newest).toMatchObject({ intent: 'two words; $(false)' });
    await office.ann.asks(['proposal', 'discard', newest?.proposal_id ?? '']);
    expect(desk.leftovers()).toEqual([]);
  });

  it('one in a temporary folder with a strange name', async () => {
    const strange = setDesk(join(folder, `it's $HOME "here"; rm`), { home: office.store.home, env: ON });
    const { status, stderr } = await strange.edit(FLOW, 'true');
    expect({ status, stderr }).toEqual({ status: 0, stderr: 'Nothing was changed; nothing is proposed.\n' });
  });

  it('VISUAL before EDITOR', async () => {
    const { status, stderr } = await flowright(['flow', 'edit', FLOW], {
      home: office.store.home,
      env: { ...ON, VISUAL: 'true', EDITOR: 'false', TMPDIR: join(folder, 'tmp') },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('Nothing was changed') });
    expect(desk.leftovers()).toEqual([]);
  });

  it.each([
    ['that fails', 'exit 3', '3'],
    ['that is killed', 'kill -9 $$', 'SIGKILL|137'],
    ['that is not there', null, '127'],
  ])('but one %s ends it: nothing is proposed, nothing is left', async (_, lines, how) => {
    const editor = lines === null ? '/no/such/editor' : desk.script('broken.sh', lines);
    const before = await proposed();
    const { status, stdout, stderr } = await desk.edit(FLOW, editor);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`error: The editor .*${editor}.* ended with (${how})\\b.*EDITOR`));
    expect(stderr).toContain('(EDITOR_FAILED)');
    expect(desk.leftovers()).toEqual([]);
    expect(await proposed()).toEqual(before);
  });

  it('and one that saves before it fails loses no work', async () => {
    const { status, stderr } = await desk.edit(FLOW, desk.script('late.sh', 'echo "# my work" >> "$1"; exit 1'));
    expect(status).toBe(1);
    expect(stderr).toContain('(EDITOR_FAILED)');
    expect(readFileSync(desk.keptIn(stderr), 'utf8')).toContain('# my work');
  });
});

describe('[FLR-flow-edit] before the editor opens', () => {
  const opened = () => desk.script('opened.sh', `touch '${join(folder, 'opened')}'`);
  it.each([
    ['a flow that is not there', ['flow_not_there'], 'unknown_flow', {}],
    ['a draft that is not there', [FLOW, '--draft', '/no/such/draft.yaml'], 'USAGE_ERROR', {}],
    ['authoring that is switched off', [FLOW], 'FLOW_AUTHORING_DISABLED', { FLOW_AUTHORING_WRITES: '0' }],
  ])('%s is refused', async (_, [flowId, ...more], code, env) => {
    const strict = setDesk(folder, { home: office.store.home, env: { ...ON, ...env } });
    const { status, stdout, stderr } = await strict.edit(flowId as string, opened(), ...more);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^error: [^\\n]+ \\(${code}\\)\\n$`));
    expect(existsSync(join(folder, 'opened'))).toBe(false);
    expect(strict.leftovers()).toEqual([]);
  });
});

describe('[FLR-flow-edit] steps move, come and go', () => {
  const id = 'flow_moving';
  const output = [{ name: 'result', type: 'string' }];
  const from = (name: string, step: number) => ({ name, from: `${id}#${step}.outputs.result` });

  beforeAll(async () => {
    const { flow, steps } = sampleFlow(id, { steps: 4 });
    steps.forEach((step, at) => {
      Object.assign(step, { owned_job: 'ABCD'[at], outputs: output });
    });
    Object.assign(steps[1] as object, { inputs: [from('a', 1)] });
    Object.assign(steps[2] as object, { inputs: [from('a', 1)] });
    Object.assign(steps[3] as object, { inputs: [from('b', 2), from('c', 3)] });
    await land({ flow, steps });
  });

  it('and references follow them: swapped, with a new one between', async () => {
    const editor = await desk.changing(id, (document) => {
      const [a, b, c, d] = document.steps as [(typeof document.steps)[0], never, never, (typeof document.steps)[0]];
      const added = { ...a, step: 9, owned_job: 'new', inputs: [from('c', 3)] };
      document.steps = [a, c, added, b, { ...d, inputs: [...d.inputs, from('n', 9)] }];
    });
    const { status, stderr } = await desk.edit(id, editor);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [newest] = await proposed();
    await approve(office.ann, newest?.proposal_id ?? '');
    const { flow, steps } = await office.owner.asks<FlowBundle>(['flow', 'get', id]);
    expect(steps.map(({ owned_job }) => owned_job)).toEqual(['A', 'C', 'new', 'B', 'D']);
    expect(flow.steps).toEqual([1, 2, 3, 4, 5].map((ordinal) => `${id}#${ordinal}`));
    expect(steps.map(({ inputs }) => inputs)).toEqual([
      [],
      [from('a', 1)],
      [from('c', 2)],
      [from('a', 1)],
      [from('b', 4), from('c', 2), from('n', 3)],
    ]);
    const diff = await office.owner.reads(['flow', 'diff', id]);
    expect(diff, 'people see moves, not rewritten steps').toMatch(/moved/);
  });

  it('but a reference to a step that was taken out is refused, even if another step has its number now', async () => {
    const editor = await desk.changing(id, (document) => {
      document.steps.splice(1, 1);
    });
    const { status, stdout, stderr } = await desk.edit(id, editor);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('(FLOW_DRAFT_INVALID)');
    expect(stderr).toContain(`${id}#2`);
  });

  it('and two steps with one number are refused', async () => {
    const editor = await desk.changing(id, ({ steps }) => {
      Object.assign(steps[1] as object, { step: 1 });
    });
    expect((await desk.edit(id, editor)).stderr).toMatch(/same number.*\(FLOW_DRAFT_INVALID\)/s);
  });
});

describe('[FLR-flow-edit] [S003-4-conflict] when the flow changes while the editor is open', () => {
  it('nothing is proposed, the draft is kept, and going on with it undoes nobody’s work', async () => {
    const rival = await proposeEdit(office.ed, FLOW, ({ flow }) =>
      Object.assign(flow, { version: '0.1.1', summary: 'Changed by a rival.' }),
    );
    const save = await desk.changing(FLOW, ({ flow }) => {
      flow.title = 'Changed by me';
    });
    const approves = `'${process.execPath}' '${MAIN}' proposal approve ${rival.proposal_id} > /dev/null`;
    const slow = desk.script('slow.sh', `${approves} || exit 7\n${save} "$1"`);
    const { status, stdout, stderr } = await desk.edit(FLOW, slow);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('(FLOW_LINEAGE_CONFLICT)');
    const draft = desk.keptIn(stderr);
    expect(readFileSync(draft, 'utf8')).toContain('Changed by me');
    expect(await proposed()).toEqual([]);

    const raising = desk.script('raise.sh', `sed -i 's/^  version: .*/  version: 0.2.0/' "$1"`);
    const again = await desk.edit(FLOW, raising, '--draft', draft);
    expect(again).toMatchObject({ status: 1, stdout: '' });
    expect(again.stderr, 'the draft does not know the rival’s change').toContain('(FLOW_LINEAGE_CONFLICT)');
    expect(await proposed()).toEqual([]);

    const rebased = await desk.changing(FLOW, ({ flow }) => {
      flow.title = 'Changed by me';
    });
    expect((await desk.edit(FLOW, rebased, '--draft', draft)).status).toBe(0);
    const [mine] = await proposed();
    await approve(office.ann, mine?.proposal_id ?? '');
    expect((await office.owner.asks<FlowBundle>(['flow', 'get', FLOW])).flow).toMatchObject({
      title: 'Changed by me',
      summary: 'Changed by a rival.',
    });
  });
});

describe('[FLR-flow-edit] when the hub goes away while the editor is open', () => {
  it('the work is not lost', async () => {
    const hub = await startHub({ home: office.store.home, env: ON });
    const env = { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: office.tokens.ed };
    const away = setDesk(join(folder, 'away'), { home: office.store.home, env });
    const save = await away.changing(FLOW, ({ flow }) => {
      flow.title = 'Written meanwhile';
    });
    const ends = `kill -9 ${hub.child.pid}; while kill -0 ${hub.child.pid} 2> /dev/null; do :; done`;
    const { status, stdout, stderr } = await away.edit(FLOW, away.script('slow.sh', `${ends}\n${save} "$1"`));
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('(HUB_UNREACHABLE)');
    expect(readFileSync(away.keptIn(stderr), 'utf8')).toContain('Written meanwhile');
  });
});
