import { readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { FlowBundle } from '../../src/flows/index.ts';
import { makeStore } from '../support/databases.ts';
import { type Desk, type EditDocument, setDesk } from '../support/editing.ts';
import { tempFolder } from '../support/home.ts';
import { approve, type FlowProposalAnswer, type Office, openOffice, proposeEdit } from '../support/office.ts';

const FLOW = 'flow_capture_to_note';

let office: Office;
beforeAll(async () => {
  office = await openOffice(() => makeStore('sqlite'), { FLOW_AUTHORING_WRITES: '1' });
});
afterAll(() => office?.close());

const here = () => ({ home: office.store.home, env: { FLOW_AUTHORING_WRITES: '1' } });
const overHub = (token = office.tokens.ed) => ({
  home: office.store.home,
  env: { FLOWRIGHT_HUB: office.hub.url, FLOWRIGHT_HUB_TOKEN: token },
});
const proposalIds = async () => {
  const { proposals } = await office.owner.asks<{ proposals: { proposal_id: string }[] }>(['proposal', 'list']);
  return proposals.map(({ proposal_id }) => proposal_id);
};

describe.each([
  { way: 'at the machine', options: here },
  { way: 'over a hub', options: overHub },
])('[FLR-flow-edit] flow edit $way', ({ options }) => {
  let desk: Desk;
  beforeEach(() => {
    desk = setDesk(tempFolder(), options());
  });

  it('opens the flow as YAML, fills in the base, and proposes what was saved', async () => {
    const { flow } = await office.owner.asks<FlowBundle>(['flow', 'get', FLOW]);
    const opened = await desk.opens(FLOW);
    expect(opened).toMatch(/^# flow_capture_to_note /);
    expect(opened).toContain('# Say why under intent');
    const document = parse(opened) as EditDocument;
    expect(document).toMatchObject({ intent: '', flow: { title: flow.title }, steps: [{ step: 1 }, {}, {}] });
    expect(document.flow.version, 'raised by one patch').toMatch(/^0\.1\.[1-9]/);

    const editor = await desk.changing(FLOW, (wanted) => {
      wanted.flow.title = 'Capture, then note';
    });
    const { status, stdout, stderr } = await desk.edit(FLOW, editor);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [, id] = /^proposal (\S+) waits in flow-authoring/m.exec(stdout) ?? [];
    expect(stdout).toContain(`proposed: ${FLOW} [personal], based on ${flow.version}`);
    expect(stdout).toContain(`flowright proposal approve ${id}`);
    expect((await office.owner.asks<FlowBundle>(['flow', 'get', FLOW])).flow.title, 'not yet').toBe(flow.title);
    expect(await approve(office.ann, id as string)).toMatchObject({ intent: 'Made better', status: 'approved' });
    expect((await office.owner.asks<FlowBundle>(['flow', 'get', FLOW])).flow).toMatchObject({
      title: 'Capture, then note',
      version: document.flow.version,
    });
    expect(desk.leftovers()).toEqual([]);
    // So that the next way finds another title to change.
    const back = await proposeEdit(office.ed, FLOW, (bundle) =>
      Object.assign(bundle.flow, { title: flow.title, version: `${document.flow.version}0` }),
    );
    await approve(office.ann, back.proposal_id);
  });

  it('--json prints the payload and nothing else, and --intent stands for the one in the file', async () => {
    const editor = await desk.changing(FLOW, (wanted) => {
      wanted.intent = '';
      wanted.flow.title = 'Said outside';
    });
    const { status, stdout, stderr } = await desk.edit(FLOW, editor, '--json', '--intent', 'Said outside');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^[^\n]+\n$/);
    const proposed = JSON.parse(stdout) as FlowProposalAnswer;
    expect(proposed).toMatchObject({ schema: 'knowtation.flow_proposal/v0', flow_id: FLOW, status: 'proposed' });
    expect(await office.ann.asks(['proposal', 'get', proposed.proposal_id])).toMatchObject({ intent: 'Said outside' });
    await office.ann.asks(['proposal', 'discard', proposed.proposal_id]);
  });

  it('a file left as it was, or emptied, proposes nothing and leaves nothing', async () => {
    const before = await proposalIds();
    for (const [editor, said] of [
      ['true', 'Nothing was changed'],
      [desk.saving(''), 'empty'],
      [desk.saving('# Say why\n\n   \n'), 'empty'],
    ] as const) {
      const { status, stdout, stderr } = await desk.edit(FLOW, editor);
      expect({ status, stdout }, editor).toEqual({ status: 0, stdout: '' });
      expect(stderr).toContain(said);
      expect(stderr).toContain('nothing is proposed');
    }
    expect(desk.leftovers()).toEqual([]);
    expect(await proposalIds()).toEqual(before);
  });

  it('a draft that is refused is kept, private, named in the answer, and can be gone on with', async () => {
    const nonsense = 'intent: [unclosed\nflow: {{{\n';
    const { status, stdout, stderr } = await desk.edit(FLOW, desk.saving(nonsense));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('not valid YAML');
    expect(stderr).toMatch(/^error: .*\(FLOW_DRAFT_INVALID\)\n$/m);
    const draft = desk.keptIn(stderr);
    expect(readFileSync(draft, 'utf8')).toBe(nonsense);
    expect(statSync(draft).mode & 0o077, 'for nobody else').toBe(0);
    const mended = await desk.changing(FLOW, (wanted) => {
      wanted.flow.title = 'Mended';
    });
    const again = await desk.edit(FLOW, mended, '--draft', draft);
    expect(again).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('proposed: ') });
    expect((await office.ann.asks<{ proposals: unknown[] }>(['proposal', 'list'])).proposals[0]).toMatchObject({
      intent: 'Made better',
      status: 'proposed',
    });
    await office.ann.asks(['proposal', 'discard', (await proposalIds())[0] as string]);
  });

  it('[FLR-all-mistakes] all mistakes of a draft are told at once, each with its place', async () => {
    const editor = await desk.changing(FLOW, ({ flow, steps }) => {
      flow.title = '';
      flow.scope = 'galaxy';
      Object.assign(steps[2] as object, { automatable: 'sometimes' });
    });
    const { status, stdout, stderr } = await desk.edit(FLOW, editor);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    for (const place of ['/flow/title', '/flow/scope', '/steps/2/automatable']) {
      expect(stderr).toMatch(new RegExp(`^ +${place} must `, 'm'));
    }
    expect(readFileSync(desk.keptIn(stderr), 'utf8')).toContain('galaxy');

    const json = await desk.edit(FLOW, editor, '--json');
    expect({ status: json.status, stdout: json.stdout }).toEqual({ status: 1, stdout: '' });
    const envelope = JSON.parse(json.stderr);
    expect(envelope.code).toBe('FLOW_DRAFT_INVALID');
    expect(envelope.details.errors).toHaveLength(3);
    expect(readFileSync(desk.keptIn(envelope.message), 'utf8')).toContain('galaxy');
  });
});
