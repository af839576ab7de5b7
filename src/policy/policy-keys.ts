import { AUTOMATABLE_KINDS, VERIFICATION_KINDS } from '../flows/index.ts';
import type { GateVariable } from '../kernel/gates.ts';

/** Names of the contract; the files lie in the data folder. */
export const AUTHORING_POLICY_FILE = 'hub_flow_authoring_policy.json';
export const PROPOSAL_POLICY_FILE = 'hub_proposal_policy.json';

interface PolicyKey<T> {
  file: string;
  default: T;
  /** What holds while the file cannot be read: nothing that it might have forbidden is allowed. */
  closed: T;
  summary: string;
  env?: GateVariable;
  /** Null for a value it cannot have. */
  parse(value: unknown): T | null;
}

const flag = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null);
const wordsOf =
  (allowed?: readonly string[]) =>
  (value: unknown): string[] | null => {
    const fits = Array.isArray(value) && value.every((word) => typeof word === 'string' && word !== '');
    return fits && (!allowed || value.every((word) => allowed.includes(word))) ? value : null;
  };

function key<T>(definition: PolicyKey<T>): PolicyKey<T> {
  return definition;
}

/** Every policy of the hub: an environment variable decides first, then the file, then the default. */
export const POLICY_KEYS = {
  flow_authoring_writes_enabled: key({
    file: AUTHORING_POLICY_FILE,
    env: 'FLOW_AUTHORING_WRITES',
    default: false,
    closed: false,
    parse: flag,
    summary: 'Flows may be proposed, imported, retired and approved',
  }),
  flow_authoring_forbidden: key({
    file: AUTHORING_POLICY_FILE,
    env: 'FLOW_AUTHORING_FORBIDDEN',
    default: false,
    closed: true,
    parse: flag,
    summary: 'No flow may be authored, whatever else is allowed',
  }),
  flow_authoring_verification_kinds: key({
    file: AUTHORING_POLICY_FILE,
    default: [...VERIFICATION_KINDS] as string[],
    closed: [],
    parse: wordsOf(VERIFICATION_KINDS),
    summary: 'Kinds of verification that steps may use',
  }),
  flow_authoring_automatable_kinds: key({
    file: AUTHORING_POLICY_FILE,
    default: [...AUTOMATABLE_KINDS] as string[],
    closed: [],
    parse: wordsOf(AUTOMATABLE_KINDS),
    summary: 'Degrees of automation that steps may ask for',
  }),
  flow_import_reject_external_tools: key({
    file: AUTHORING_POLICY_FILE,
    default: false,
    closed: true,
    parse: flag,
    summary: 'Refuse imports that name external tools outside the allowlist; otherwise they come in inert',
  }),
  flow_import_allowed_tools: key({
    file: AUTHORING_POLICY_FILE,
    default: [] as string[],
    closed: [],
    parse: wordsOf(),
    summary: 'External tools that an import may name',
  }),
  flow_import_automatable_forbidden: key({
    file: AUTHORING_POLICY_FILE,
    default: false,
    closed: true,
    parse: flag,
    summary: 'Refuse imports with a step that is not manual',
  }),
  proposal_evaluation_required: key({
    file: PROPOSAL_POLICY_FILE,
    env: 'HUB_PROPOSAL_EVALUATION_REQUIRED',
    default: false,
    closed: true,
    parse: flag,
    summary: 'Nothing is approved without a passed evaluation or a waiver',
  }),
  evaluator_may_approve: key({
    file: PROPOSAL_POLICY_FILE,
    env: 'HUB_EVALUATOR_MAY_APPROVE',
    default: false,
    closed: false,
    parse: flag,
    summary: 'Evaluators may approve, not only admins',
  }),
};

export type PolicyKeyName = keyof typeof POLICY_KEYS;
export type PolicyValues = { [K in PolicyKeyName]: (typeof POLICY_KEYS)[K]['default'] };
export const POLICY_KEY_NAMES = Object.keys(POLICY_KEYS) as PolicyKeyName[];

/** A value as the command line writes it: true, false, or words with commas between. */
export function parsePolicyText(name: PolicyKeyName, text: string): boolean | string[] | null {
  const { default: fallback, parse } = POLICY_KEYS[name] as PolicyKey<boolean | string[]>;
  if (typeof fallback === 'boolean') return text === 'true' || text === 'false' ? parse(text === 'true') : null;
  return parse(text === '' ? [] : text.split(',').map((word) => word.trim()));
}
