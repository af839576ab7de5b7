import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright } from '../support/program.ts';
import { libraryFingerprint } from './fingerprint.ts';
import { approve, type Inside, openInside, type Payload, propose } from './inside.ts';

const AUTHORING = 'hub_flow_authoring_policy.json';
const PROPOSAL = 'hub_proposal_policy.json';
const TRIGGERS = 'hub_proposal_review_triggers.json';
const RUBRIC = 'hub_proposal_rubric.json';
const OBEYED = /(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const FOLDER = Symbol('a folder');

/** Damage that any of the files may have, and words that a person finds in the reason. */
const DAMAGES: [string, string | typeof FOLDER, RegExp][] = [
  ['a folder in its place', FOLDER, /EISDIR/],
  ['no JSON', '{"flow_authoring_writes_enabled": true', /JSON/],
  ['nothing at all', '', /JSON/],
  ['a list', '[]', /object/],
  ['a word', '"true"', /object/],
  ['null', 'null', /object/],
  ['bytes that are no text', '\u0000\u0001', /JSON/],
];

let store: TestStore;
/** The environment says yes to everything it can. */
let inside: Inside;
let plain: Inside;
const env = {
  FLOW_AUTHORING_WRITES: '1',
  FLOW_AUTHORING_FORBIDDEN: '0',
  HUB_PROPOSAL_EVALUATION_REQUIRED: '0',
  HUB_EVALUATOR_MAY_APPROVE: '1',
};

beforeAll(async () => {
  store = await makeStore('sqlite');
  inside = await openInside(store, env);
  plain = await openInside(store, {});
  for (const [user, role] of [
    ['edna', 'editor'],
    ['evan', 'evaluator'],
    ['vera', 'viewer'],
  ] as const)
    await inside.member(user, role);
});

afterAll(async () => {
  await inside?.close();
  await plain?.close();
  await store?.remove();
});

const at = (file: string) => join(store.home, file);
const mend = () => {
  for (const file of [AUTHORING, PROPOSAL, TRIGGERS, RUBRIC]) rmSync(at(file), { recursive: true, force: true });
};
const damage = (file: string, content: string | typeof FOLDER) => {
  mend();
  if (content === FOLDER) mkdirSync(at(file));
  else writeFileSync(at(file), content);
};
afterEach(mend);

let made = 0;
const fresh = () => {
  made += 1;
  return sampleFlow(`flow_policy_${made}`);
};
const open = async () => (await propose(inside, 'edna', fresh())).proposal_id;
const entry = async (key: string) => {
  const { policies } = await inside.as<{ policies: { key: string }[] }>('vera', 'policy.show');
  return policies.find((policy) => policy.key === key);
};

describe('[S003-6-tri-state] a file of the authoring policy that cannot be used', () => {
  const WRONG: [string, string][] = [
    ['a word for a flag', '{"flow_authoring_writes_enabled":"yes"}'],
    ['a number for a flag', '{"flow_authoring_forbidden":0}'],
    ['an unknown kind', '{"flow_authoring_verification_kinds":["human_review","magic"]}'],
    ['a text for a list', '{"flow_authoring_automatable_kinds":"manual"}'],
    ['null for a flag', '{"flow_authoring_writes_enabled":null}'],
  ];
  const all = [...DAMAGES, ...WRONG.map(([what, text]) => [what, text, /flow_authoring_/] as const)];

  it.each(all)('closes the gate, whatever the environment says: %s', async (_what, content) => {
    const proposal_id = await open();
    const before = await libraryFingerprint(inside.app.services.database.queries);
    damage(AUTHORING, content);
    for (const where of [inside, plain]) {
      const requests: [string, Payload][] = [
        ['flow.propose', { ...fresh(), intent: 'x' }],
        ['flow.import', { bundle: fresh(), intent: 'x' }],
        ['flow.retire', { flow_id: 'flow_capture_to_note', intent: 'x' }],
        ['flow.mirror_propose', { flow_id: 'flow_capture_to_note' }],
      ];
      for (const [name, input] of requests) {
        expect(await where.codeOf('local', name, input), name).toBe('FLOW_AUTHORING_POLICY_FORBIDDEN');
      }
      expect(await where.codeOf('local', 'proposal.approve', { proposal_id })).toBe('FLOW_AUTHORING_POLICY_FORBIDDEN');
    }
    expect(await libraryFingerprint(inside.app.services.database.queries)).toBe(before);
    expect(await entry('flow_authoring_forbidden')).toMatchObject({ value: true, origin: 'closed' });
    expect(await entry('flow_authoring_writes_enabled')).toMatchObject({ value: false, origin: 'closed' });
    expect(await entry('flow_authoring_verification_kinds')).toMatchObject({ value: [], origin: 'closed' });
    mend();
    expect(await inside.codeOf('local', 'proposal.approve', { proposal_id })).toBe('done');
  });

  it.each(all)('is not overwritten by policy set: %s', async (_what, content, reason) => {
    damage(AUTHORING, content);
    const setting = { key: 'flow_import_allowed_tools', value: 'a-tool' };
    await expect(inside.as('local', 'policy.set', setting)).rejects.toMatchObject({
      code: 'POLICY_FILE_DAMAGED',
      message: expect.stringMatching(reason),
    });
    expect(await inside.codeOf('local', 'policy.set', { ...setting, value: 'default' })).toBe('POLICY_FILE_DAMAGED');
    if (content !== FOLDER) expect(readFileSync(at(AUTHORING), 'utf8')).toBe(content);
    const { damaged } = await inside.as<{ damaged: { file: string; reason: string }[] }>('local', 'policy.show');
    expect(damaged).toMatchObject([{ file: AUTHORING, reason: expect.stringMatching(reason) }]);
  });

  it('does not stop what it does not govern', async () => {
    damage(AUTHORING, '{');
    const { proposal_id } = await inside.as('edna', 'proposal.create', {
      path: 'free.md',
      body: 'Text',
      intent: 'A note',
    });
    expect(await inside.codeOf('local', 'proposal.approve', { proposal_id })).toBe('done');
    expect(await inside.codeOf('vera', 'flow.list')).toBe('done');
  });
});

describe('[S003-6-tri-state] a file of the proposal policy that cannot be used', () => {
  const all = [...DAMAGES, ['a word for a flag', '{"proposal_evaluation_required":"no"}', /proposal_/] as const];

  it.each(all)('asks for an evaluation and lets no evaluator approve: %s', async (_what, content) => {
    const before = await open();
    damage(PROPOSAL, content);
    const after = await open();
    expect(await inside.as('local', 'proposal.get', { proposal_id: after })).toMatchObject({
      evaluation_status: 'pending',
    });
    for (const proposal_id of [before, after]) {
      expect(await inside.codeOf('evan', 'proposal.approve', { proposal_id })).toBe('FORBIDDEN');
      expect(await inside.codeOf('local', 'proposal.approve', { proposal_id })).toBe('EVALUATION_REQUIRED');
    }
    expect(await inside.codeOf('local', 'policy.set', { key: 'evaluator_may_approve', value: 'true' })).toMatch(
      /^(POLICY_FILE_DAMAGED|CONFLICT)$/,
    );
    mend();
    expect(await inside.codeOf('evan', 'proposal.approve', { proposal_id: before })).toBe('done');
  });
});

describe('[FLR-triggers] review rules that cannot be used', () => {
  it.each<[string, string | typeof FOLDER]>([
    ...DAMAGES.map(([what, content]): [string, string | typeof FOLDER] => [what, content]),
    ['an unknown list', '{"everything":[]}'],
    ['a rule of the wrong shape', '{"literal_phrases":["x"]}'],
  ])('send every proposal to evaluation: %s', async (_what, content) => {
    damage(TRIGGERS, content);
    const flow = await open();
    const note = await inside.as('edna', 'proposal.create', { path: 'b.md', body: 'Text', intent: 'A note' });
    for (const proposal_id of [flow, note.proposal_id]) {
      expect(await inside.as('local', 'proposal.get', { proposal_id })).toMatchObject({
        evaluation_status: 'pending',
        review_severity: 'elevated',
        auto_flag_reasons: ['triggers_unreadable'],
      });
      expect(await inside.codeOf('local', 'proposal.approve', { proposal_id })).toBe('EVALUATION_REQUIRED');
    }
  });
});

describe('[S003-3-evaluation] a rubric that cannot be used', () => {
  it.each(DAMAGES)('lets nobody pass anything: %s', async (_what, content) => {
    const proposal_id = await open();
    damage(RUBRIC, content);
    const judged = { proposal_id, outcome: 'pass', checklist: [] };
    expect(await inside.codeOf('evan', 'proposal.evaluate', judged)).toBe('POLICY_FILE_DAMAGED');
    expect(await inside.as('vera', 'policy.show')).toMatchObject({ rubric: null });
    expect(await inside.as('local', 'proposal.get', { proposal_id })).toMatchObject({ evaluation_status: 'none' });
  });
});

describe('[S003-6-tri-state] [FLR-init-doctor] doctor', () => {
  const doctor = (args: string[] = []) => flowright(['doctor', ...args], { home: store.home });

  it.each([AUTHORING, PROPOSAL, TRIGGERS, RUBRIC])('says why %s cannot be used, and how to mend it', async (file) => {
    damage(file, '{"broken": ');
    const { status, stdout } = await doctor();
    expect(status).toBe(1);
    expect(stdout).toContain(`${file} cannot be used: it is not valid JSON`);
    expect(stdout).toContain(`Mend or remove ${at(file)}`);
  });

  it('says so of a folder too, and in JSON', async () => {
    damage(AUTHORING, FOLDER);
    const { status, stdout } = await doctor(['--json']);
    const report = JSON.parse(stdout) as { ok: boolean; findings: { state: string; what: string }[] };
    expect({ status, ok: report.ok }).toEqual({ status: 1, ok: false });
    const wrong = report.findings.filter(({ state }) => state === 'wrong');
    expect(wrong).toMatchObject([{ what: expect.stringMatching(`${AUTHORING} .*EISDIR`) }]);
  });

  it('shows what a damaged file holds, and obeys none of it', async () => {
    damage(AUTHORING, '\u001b]0;title\u0007\u001b[2J\u202e{');
    for (const args of [['doctor'], ['policy', 'show'], ['policy', 'set', 'flow_authoring_forbidden', 'true']]) {
      const { stdout, stderr } = await flowright(args, { home: store.home });
      expect(stdout + stderr, args.join(' ')).toContain(AUTHORING);
      expect(
        OBEYED.exec(stdout + stderr)?.[0],
        `${args.join(' ')}: ${JSON.stringify(stdout + stderr)}`,
      ).toBeUndefined();
    }
  });

  it('is content once the file is mended', async () => {
    mend();
    expect((await doctor()).stdout).toContain('policy files can be read');
    expect(await approve(inside, 'local', await open())).toMatchObject({ status: 'approved' });
  });
});
