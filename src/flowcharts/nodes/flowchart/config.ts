import type { Issue } from '../../../kernel/errors.ts';
import type { InspectorField } from '../node-type.ts';

type Json = Record<string, unknown>;

const TRUE_WORDS = ['1', 'true', 'yes', 'on'];
const FALSE_WORDS = ['0', 'false', 'no', 'off'];

export const inspector: readonly InspectorField[] = [
  { key: 'ref_id', label: 'Flowchart', control: 'flowchart', required: true, help: 'The flowchart that is run' },
  {
    key: 'wait',
    label: 'Wait for its end',
    control: 'switch',
    default: true,
    help: 'Off: start it and go on at once, without its output',
  },
  {
    key: 'input',
    label: 'Input',
    control: 'json',
    help: 'What it is started with; the latest output before this node when left out',
  },
];

export function normaliseConfig(raw: Json): { config: Json; issues: Issue[] } {
  const issues: Issue[] = [];
  const config: Json = { ...raw, wait: true };
  const wait = flag(raw.wait);
  if (wait === undefined) {
    issues.push({ code: 'flowchart_config_invalid', message: 'must be true or false', path: '/wait' });
  } else {
    config.wait = wait;
  }
  if (raw.input === null || raw.input === undefined) delete config.input;
  else if (typeof raw.input !== 'object' || Array.isArray(raw.input)) {
    issues.push({ code: 'flowchart_config_invalid', message: 'must be an object, or left out', path: '/input' });
  }
  return { config, issues };
}

/** True when left out; undefined for what is neither yes nor no. */
function flag(value: unknown): boolean | undefined {
  if (value === undefined || value === null || value === '') return true;
  if (typeof value === 'boolean') return value;
  const word = String(value).trim().toLowerCase();
  if (TRUE_WORDS.includes(word)) return true;
  return FALSE_WORDS.includes(word) ? false : undefined;
}
