import { describe, expect, it } from 'vitest';
import { GATE_VARIABLES, type Gates, type GateVariable, readGates } from '../../src/kernel/gates.ts';
import {
  AUTHORING_POLICY_FILE,
  POLICY_KEY_NAMES,
  POLICY_KEYS,
  type PolicyKeyName,
  PROPOSAL_POLICY_FILE,
  parsePolicyText,
} from '../../src/policy/policy-keys.ts';
import { POLICY_FILES, type PolicyText, resolvePolicy, withPolicyKey } from '../../src/policy/resolve.ts';

/** A value that each key can have and that is not its default. */
const OTHER: Record<PolicyKeyName, boolean | string[]> = {
  flow_authoring_writes_enabled: true,
  flow_authoring_forbidden: true,
  flow_authoring_verification_kinds: ['human_review'],
  flow_authoring_automatable_kinds: ['manual'],
  flow_import_reject_external_tools: true,
  flow_import_allowed_tools: ['jira'],
  flow_import_automatable_forbidden: true,
  proposal_evaluation_required: true,
  evaluator_may_approve: true,
};
/** Values that no key can have; a list is wrong for a flag and a flag for a list. */
const IMPOSSIBLE = [null, 0, 1, 'true', 'false', '', {}, [''], [7], ['human_review', 7]];
const DAMAGED: [string, PolicyText][] = [
  ['cannot be read', { unreadable: 'it cannot be read (EACCES)' }],
  ['is empty', ''],
  ['is cut short', '{"flow_authoring_writes_enabled": tr'],
  ['is a list', '[]'],
  ['is null', 'null'],
  ['is a word', '"true"'],
];

const resolve = (gates: Gates, texts: Record<string, PolicyText> = {}) => resolvePolicy(gates, texts);
const envOf = (name: PolicyKeyName): GateVariable | undefined => {
  const key = POLICY_KEYS[name];
  return 'env' in key ? key.env : undefined;
};
const fileWith = (name: PolicyKeyName, value: unknown) => ({
  [POLICY_KEYS[name].file]: JSON.stringify({ [name]: value }),
});
const WITH_ENV = POLICY_KEY_NAMES.filter((name) => envOf(name) !== undefined);

describe('[S003-6-tri-state] a word of the environment', () => {
  it.each(GATE_VARIABLES)('%s is on, off or undecided', (variable) => {
    for (const word of ['1', 'true']) expect(readGates({ [variable]: word })).toEqual({ [variable]: true });
    for (const word of ['0', 'false']) expect(readGates({ [variable]: word })).toEqual({ [variable]: false });
    for (const word of ['', ' ', 'yes', 'no', 'on', 'off', 'TRUE', 'True', 'FALSE', ' true', '1 ', '2', '01']) {
      expect(readGates({ [variable]: word }), JSON.stringify(word)).toEqual({});
    }
  });

  it('that nobody says decides nothing', () => {
    expect(readGates({})).toEqual({});
    expect(readGates({ FLOW_AUTHORING: '1', flow_authoring_writes: '1' })).toEqual({});
  });
});

describe('[S003-6-tri-state] each policy', () => {
  it('[S003-6-gate] is at its default where nothing is said: proposing flows is off', () => {
    const { values, origins, damaged } = resolve({});
    for (const name of POLICY_KEY_NAMES) {
      expect(values[name], name).toEqual(POLICY_KEYS[name].default);
      expect(origins[name]).toBe('default');
    }
    expect(values.flow_authoring_writes_enabled).toBe(false);
    expect(damaged).toEqual([]);
  });

  it.each(POLICY_KEY_NAMES)('%s is what its file says', (name) => {
    const { values, origins } = resolve({}, fileWith(name, OTHER[name]));
    expect(values[name]).toEqual(OTHER[name]);
    expect(origins[name]).toBe('file');
    for (const other of POLICY_KEY_NAMES.filter((key) => key !== name)) {
      expect([other, values[other], origins[other]]).toEqual([other, POLICY_KEYS[other].default, 'default']);
    }
  });

  it.each(POLICY_KEY_NAMES)('%s is not decided by a file that is another policy’s', (name) => {
    const file = POLICY_FILES.find((each) => each !== POLICY_KEYS[name].file) as string;
    const { values, origins, damaged } = resolve({}, { [file]: JSON.stringify({ [name]: OTHER[name] }) });
    expect([values[name], origins[name], damaged]).toEqual([POLICY_KEYS[name].default, 'default', []]);
  });

  it.each(WITH_ENV)('%s is what the environment says, over its file', (name) => {
    for (const decided of [true, false]) {
      const gates = { [envOf(name) as string]: decided };
      for (const texts of [{}, fileWith(name, !decided), fileWith(name, decided)]) {
        const { values, origins } = resolve(gates, texts);
        expect([values[name], origins[name]]).toEqual([decided, 'environment']);
      }
    }
  });

  it.each(POLICY_KEY_NAMES)('%s with a value that it cannot have damages its file', (name) => {
    const wrongKind = Array.isArray(OTHER[name])
      ? [true, false, ...(name === 'flow_import_allowed_tools' ? [] : [['other']])]
      : [['a'], []];
    for (const value of [...IMPOSSIBLE, ...wrongKind]) {
      const { damaged, origins } = resolve({}, fileWith(name, value));
      expect(damaged, JSON.stringify(value)).toEqual([
        { file: POLICY_KEYS[name].file, reason: expect.stringContaining(name) },
      ]);
      expect(origins[name]).toBe('closed');
    }
  });

  it('keys that mean nothing here are left for others', () => {
    const text = JSON.stringify({ review_hints_enabled: true, flow_authoring_writes_enabled: true, 'x-note': [1] });
    const { values, damaged } = resolve({}, { [AUTHORING_POLICY_FILE]: text, [PROPOSAL_POLICY_FILE]: text });
    expect([values.flow_authoring_writes_enabled, damaged]).toEqual([true, []]);
  });

  it('is not decided by what an object merely inherits', () => {
    const { values, origins } = resolve(
      {},
      { [AUTHORING_POLICY_FILE]: '{"__proto__": {"flow_authoring_writes_enabled": true}}' },
    );
    expect([values.flow_authoring_writes_enabled, origins.flow_authoring_writes_enabled]).toEqual([false, 'default']);
  });
});

describe('[S003-6-tri-state] a policy file that is damaged', () => {
  const closes = Object.fromEntries(POLICY_KEY_NAMES.map((name) => [name, POLICY_KEYS[name].closed]));

  it('closes: what it might have forbidden is forbidden, what it might have allowed is not', () => {
    expect(closes).toEqual({
      flow_authoring_writes_enabled: false,
      flow_authoring_forbidden: true,
      flow_authoring_verification_kinds: [],
      flow_authoring_automatable_kinds: [],
      flow_import_reject_external_tools: true,
      flow_import_allowed_tools: [],
      flow_import_automatable_forbidden: true,
      proposal_evaluation_required: true,
      evaluator_may_approve: false,
    });
  });

  it.each(DAMAGED)('because it %s closes every policy it holds, and no other', (_, text) => {
    for (const file of POLICY_FILES) {
      const { values, origins, damaged } = resolve({}, { [file]: text });
      expect(damaged).toEqual([{ file, reason: expect.stringMatching(/^it /) }]);
      for (const name of POLICY_KEY_NAMES) {
        const isIts = POLICY_KEYS[name].file === file;
        expect([name, origins[name]]).toEqual([name, isIts ? 'closed' : 'default']);
        expect(values[name]).toEqual(isIts ? POLICY_KEYS[name].closed : POLICY_KEYS[name].default);
      }
    }
  });

  it.each(WITH_ENV)('is not opened by the environment: %s', (name) => {
    const variable = envOf(name) as string;
    const { closed, file } = POLICY_KEYS[name];
    const opened = resolve({ [variable]: !closed }, { [file]: '{' });
    expect([opened.values[name], opened.origins[name]]).toEqual([closed, 'closed']);
    const agreed = resolve({ [variable]: closed as boolean }, { [file]: '{' });
    expect([agreed.values[name], agreed.origins[name]]).toEqual([closed, 'environment']);
  });

  it('by one wrong value closes its other policies too', () => {
    const text = JSON.stringify({ flow_authoring_writes_enabled: true, flow_authoring_forbidden: 'no' });
    const { values } = resolve({}, { [AUTHORING_POLICY_FILE]: text });
    expect([values.flow_authoring_writes_enabled, values.flow_authoring_forbidden]).toEqual([false, true]);
  });
});

describe('a policy file that is changed', () => {
  it('keeps what others wrote, and its new key comes last', () => {
    const text = withPolicyKey(
      '{"note":"ours","flow_authoring_forbidden":true}',
      'flow_authoring_writes_enabled',
      true,
    );
    expect(text).toBe(
      '{\n  "note": "ours",\n  "flow_authoring_forbidden": true,\n  "flow_authoring_writes_enabled": true\n}\n',
    );
  });

  it('is made where there is none', () => {
    expect(withPolicyKey(null, 'flow_import_allowed_tools', ['a', 'b'])).toBe(
      '{\n  "flow_import_allowed_tools": [\n    "a",\n    "b"\n  ]\n}\n',
    );
  });

  it('loses a key that goes back to its default', () => {
    expect(withPolicyKey('{"evaluator_may_approve":true,"a":1}', 'evaluator_may_approve', null)).toBe(
      '{\n  "a": 1\n}\n',
    );
    expect(withPolicyKey(null, 'evaluator_may_approve', null)).toBe('{}\n');
  });
});

describe('the text of a policy', () => {
  it.each<[PolicyKeyName, string, boolean | string[] | null]>([
    ['flow_authoring_writes_enabled', 'true', true],
    ['flow_authoring_writes_enabled', 'false', false],
    ['flow_authoring_writes_enabled', '1', null],
    ['flow_authoring_writes_enabled', 'TRUE', null],
    ['flow_authoring_writes_enabled', '', null],
    ['flow_authoring_verification_kinds', 'human_review', ['human_review']],
    ['flow_authoring_verification_kinds', 'human_review, test_pass', ['human_review', 'test_pass']],
    ['flow_authoring_verification_kinds', '', []],
    ['flow_authoring_verification_kinds', 'magic', null],
    ['flow_authoring_verification_kinds', 'human_review,,', null],
    ['flow_authoring_automatable_kinds', 'manual,agent_assisted', ['manual', 'agent_assisted']],
    ['flow_authoring_automatable_kinds', 'human_review', null],
    ['flow_import_allowed_tools', 'anything goes,b', ['anything goes', 'b']],
    ['flow_import_allowed_tools', '', []],
  ])('%s: %o is %o', (name, text, value) => {
    expect(parsePolicyText(name, text)).toEqual(value);
  });
});
