import type { Gates } from '../kernel/gates.ts';
import {
  AUTHORING_POLICY_FILE,
  POLICY_KEY_NAMES,
  POLICY_KEYS,
  type PolicyKeyName,
  type PolicyValues,
  PROPOSAL_POLICY_FILE,
} from './policy-keys.ts';

/** Text of a policy file: null where there is none, or the reason it cannot be read. */
export type PolicyText = string | null | { unreadable: string };

export type PolicyOrigin = 'environment' | 'file' | 'default' | 'closed';

export interface PolicyState {
  values: PolicyValues;
  origins: Record<PolicyKeyName, PolicyOrigin>;
  /** Files that are there but cannot be used; what they govern is closed. */
  damaged: { file: string; reason: string }[];
}

export const POLICY_FILES = [AUTHORING_POLICY_FILE, PROPOSAL_POLICY_FILE];

/** Pure: what holds, given the environment's words and the files' texts. */
export function resolvePolicy(gates: Gates, texts: Record<string, PolicyText>): PolicyState {
  const damaged: PolicyState['damaged'] = [];
  const files = new Map<string, Record<string, unknown> | null>();
  for (const file of POLICY_FILES) {
    const read = readPolicyFile(file, texts[file] ?? null);
    if ('reason' in read) damaged.push({ file, reason: read.reason });
    files.set(file, 'reason' in read ? null : read.values);
  }
  const values: Record<string, unknown> = {};
  const origins: Record<string, PolicyOrigin> = {};
  for (const name of POLICY_KEY_NAMES) {
    const key = POLICY_KEYS[name];
    const stored = files.get(key.file);
    const decided = 'env' in key && key.env ? gates[key.env] : undefined;
    // Caps that cannot be read might forbid anything, so no word of the environment opens what a damaged file governs.
    if (stored === null && decided !== key.closed) [values[name], origins[name]] = [key.closed, 'closed'];
    else if (decided !== undefined) [values[name], origins[name]] = [decided, 'environment'];
    else if (stored && Object.hasOwn(stored, name)) [values[name], origins[name]] = [stored[name], 'file'];
    else [values[name], origins[name]] = [key.default, 'default'];
  }
  return { values: values as PolicyValues, origins: origins as Record<PolicyKeyName, PolicyOrigin>, damaged };
}

/** The known keys of a file, each with a value it can have; unknown keys are left for others. */
function readPolicyFile(file: string, text: PolicyText): { values: Record<string, unknown> } | { reason: string } {
  if (text === null) return { values: {} };
  if (typeof text === 'object') return { reason: text.unreadable };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return { reason: `it is not valid JSON (${(error as Error).message})` };
  }
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed))
    return { reason: 'it is not a JSON object' };
  const values: Record<string, unknown> = {};
  for (const name of POLICY_KEY_NAMES) {
    const { file: home, parse } = POLICY_KEYS[name];
    if (home !== file || !Object.hasOwn(parsed, name)) continue;
    const value = parse((parsed as Record<string, unknown>)[name]);
    if (value === null) return { reason: `${name} has a value that it cannot have` };
    values[name] = value;
  }
  return { values };
}

/** Keys of a policy file that mean nothing here, such as a misspelt one. */
export function unknownPolicyKeys(file: string, text: PolicyText): string[] {
  if (typeof text !== 'string' || 'reason' in readPolicyFile(file, text)) return [];
  return Object.keys(JSON.parse(text) as object).filter(
    (name) => !POLICY_KEY_NAMES.some((key) => key === name && POLICY_KEYS[key].file === file),
  );
}

/** The file's text with one key set, or taken out with null; whatever else stands in it stays. */
export function withPolicyKey(text: string | null, name: PolicyKeyName, value: boolean | string[] | null): string {
  const stored = text === null ? {} : (JSON.parse(text) as Record<string, unknown>);
  const { [name]: _, ...others } = stored;
  return `${JSON.stringify(value === null ? others : { ...others, [name]: value }, null, 2)}\n`;
}
