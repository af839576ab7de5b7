import { describe, expect, it } from 'vitest';
import { assertAuthoringOpen, assertImportable, assertWithinCaps } from '../../src/authoring/gate.ts';
import type { FlowStep } from '../../src/flows/index.ts';
import { FlowrightError } from '../../src/kernel/errors.ts';
import { POLICY_KEY_NAMES, POLICY_KEYS, type PolicyValues } from '../../src/policy/policy-keys.ts';
import { sampleFlow } from '../support/flows.ts';

const DEFAULTS = Object.fromEntries(POLICY_KEY_NAMES.map((name) => [name, POLICY_KEYS[name].default])) as PolicyValues;
const policy = (some: Partial<PolicyValues>): PolicyValues => ({ ...DEFAULTS, ...some });

function steps(...changes: Partial<FlowStep>[]): FlowStep[] {
  const made = sampleFlow('flow_gate', { steps: changes.length }).steps;
  return changes.map((change, at) => ({ ...(made[at] as FlowStep), ...change }));
}
const verified = (kind: FlowStep['verification']['kind']): Partial<FlowStep> => ({
  verification: { kind, evidence_required: false, description: 'Seen.' },
});
const tool = (id: string): Partial<FlowStep> => ({ skill_refs: [{ kind: 'external_tool', id }] });

function refusalOf(act: () => void): FlowrightError | null {
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof FlowrightError) return error;
    throw error;
  }
}
const codeOf = (act: () => void) => refusalOf(act)?.code ?? 'allowed';

describe('[S003-6-gate] [S003-6-policy] authoring', () => {
  it.each([
    [false, false, 'FLOW_AUTHORING_DISABLED'],
    [true, false, 'allowed'],
    [false, true, 'FLOW_AUTHORING_POLICY_FORBIDDEN'],
    [true, true, 'FLOW_AUTHORING_POLICY_FORBIDDEN'],
  ])('enabled %s and forbidden %s is %s', (flow_authoring_writes_enabled, flow_authoring_forbidden, code) => {
    const values = policy({ flow_authoring_writes_enabled, flow_authoring_forbidden });
    expect(codeOf(() => assertAuthoringOpen(values))).toBe(code);
  });

  it('that is off says how it is opened', () => {
    expect(refusalOf(() => assertAuthoringOpen(DEFAULTS))?.message).toContain(
      'flowright policy set flow_authoring_writes_enabled true',
    );
  });
});

describe('[S003-6-policy] caps on kinds', () => {
  const mixed = steps(
    { ...verified('human_review'), automatable: 'manual' },
    { ...verified('test_pass'), automatable: 'automatable' },
  );

  it('allow everything by default', () => {
    expect(codeOf(() => assertWithinCaps(DEFAULTS, mixed))).toBe('allowed');
  });

  it('refuse a kind of verification or automation beyond them, each with its place', () => {
    const error = refusalOf(() =>
      assertWithinCaps(
        policy({ flow_authoring_verification_kinds: ['human_review'], flow_authoring_automatable_kinds: ['manual'] }),
        mixed,
      ),
    );
    expect(error).toMatchObject({ code: 'FLOW_AUTHORING_POLICY_FORBIDDEN', status: 403 });
    expect(error?.details.errors).toEqual([
      { code: 'policy_cap', message: 'is test_pass; allowed: human_review', path: '/steps/1/verification/kind' },
      { code: 'policy_cap', message: 'is automatable; allowed: manual', path: '/steps/1/automatable' },
    ]);
  });

  it('that allow nothing refuse everything', () => {
    const error = refusalOf(() => assertWithinCaps(policy({ flow_authoring_verification_kinds: [] }), mixed));
    expect(error?.details.errors).toHaveLength(2);
    expect(error?.message).toContain('allowed: nothing');
  });
});

describe('[S003-5-import] what an import may bring', () => {
  it('is any external tool by default: it comes in inert', () => {
    expect(codeOf(() => assertImportable(DEFAULTS, steps(tool('jira'))))).toBe('allowed');
  });

  it('is only tools of the allowlist where others are rejected', () => {
    const strict = policy({ flow_import_reject_external_tools: true, flow_import_allowed_tools: ['jira'] });
    expect(codeOf(() => assertImportable(strict, steps(tool('jira'))))).toBe('allowed');
    const error = refusalOf(() => assertImportable(strict, steps(tool('jira'), tool('shell'), tool('shell'))));
    expect(error).toMatchObject({ code: 'FLOW_IMPORT_EXTERNAL_TOOL_DENIED', details: { tools: ['shell'] } });
  });

  it('names handles of other kinds freely', () => {
    const strict = policy({ flow_import_reject_external_tools: true });
    const others = steps({ skill_refs: [{ kind: 'cli', id: 'shell' }], requires: [{ kind: 'tool', id: 'shell' }] });
    expect(codeOf(() => assertImportable(strict, others))).toBe('allowed');
  });

  it.each(['agent_assisted', 'automatable'] as const)('is no %s step where policy wants manual ones', (automatable) => {
    const manual = policy({ flow_import_automatable_forbidden: true });
    expect(codeOf(() => assertImportable(manual, steps({}, { automatable })))).toBe('FLOW_IMPORT_AUTOMATABLE_DENIED');
    expect(codeOf(() => assertImportable(manual, steps({}, {})))).toBe('allowed');
  });

  it('is asked for tools first and for automation then', () => {
    const both = policy({ flow_import_reject_external_tools: true, flow_import_automatable_forbidden: true });
    const bundle = steps({ ...tool('shell'), automatable: 'automatable' });
    expect(codeOf(() => assertImportable(both, bundle))).toBe('FLOW_IMPORT_EXTERNAL_TOOL_DENIED');
  });
});
