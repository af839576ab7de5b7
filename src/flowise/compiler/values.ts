import type { FlowInput } from '../flow/model.ts';
import { containsPlaceholder } from '../flow/secrets.ts';
import { isRecord } from './handles.ts';
import { deeperThan } from './mentions.ts';
import { didYouMean } from './similar.ts';

/** The canvas keeps these as JSON text, and many nodes parse them. */
const KEPT_AS_TEXT = new Set(['json', 'datagrid', 'multiOptions', 'asyncMultiOptions']);
const DEEPEST_VALUE = 40;
const SHOWN_OPTIONS = 12;

export type CheckedValue = { value: unknown } | { code: string; problem: string };

/**
 * A value for a parameter, in the form that the canvas would store, or what is wrong with it. Of several parameters of
 * one name (each shown under another condition) it is enough to fit one.
 */
export function checkValue(params: readonly FlowInput[], value: unknown): CheckedValue {
  const general = generalProblem(value);
  if (general) return general;
  let first: CheckedValue | undefined;
  for (const param of params) {
    const problem = typeProblem(param, value);
    if (problem === null) return { value: canvasForm(param.type, value) };
    first ??= { code: 'value_invalid', problem };
  }
  return first ?? { value };
}

export function canvasForm(type: string, value: unknown): unknown {
  return KEPT_AS_TEXT.has(type) && value !== null && typeof value === 'object' ? JSON.stringify(value) : value;
}

function generalProblem(value: unknown): CheckedValue | null {
  if (value === undefined || value === null) {
    return { code: 'value_missing', problem: 'needs a value; an empty text clears it' };
  }
  if (deeperThan(value, DEEPEST_VALUE)) {
    return { code: 'value_invalid', problem: `is nested deeper than ${DEEPEST_VALUE} levels` };
  }
  if (containsPlaceholder(value)) {
    return { code: 'secret_hidden', problem: 'is the sign of a hidden secret; give the real value or leave it alone' };
  }
  if (isPlaceholder(value)) {
    return { code: 'placeholder', problem: 'still holds a placeholder (MISSING_…); put the real value there' };
  }
  return null;
}

/** What planners write where something has yet to be found. */
export function isPlaceholder(value: unknown): boolean {
  return typeof value === 'string' && /^MISSING_\w+$/i.test(value.trim());
}

function typeProblem(param: FlowInput, value: unknown): string | null {
  if (value === '') return null;
  if (typeof value === 'string' && param.acceptVariable === true && value.includes('{{')) return null;
  switch (param.type) {
    case 'number':
      return isNumeric(value) ? null : 'must be a number';
    case 'boolean':
      return typeof value === 'boolean' ? null : 'must be true or false';
    case 'options':
      return optionProblem(param, value);
    case 'multiOptions':
      return (
        listOf(value)
          ?.map((one) => optionProblem(param, one))
          .find((problem) => problem !== null) ?? (listOf(value) ? null : 'must be a list of options')
      );
    case 'asyncMultiOptions':
      return listOf(value) ? null : 'must be a list';
    case 'json':
      return jsonProblem(value);
    case 'array':
    case 'datagrid':
      return listOf(value) ? null : 'must be a list';
    case 'conditionFunction':
    case 'tabs':
      return null;
    default:
      return typeof value === 'string' ? null : 'must be text';
  }
}

function isNumeric(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
}

function optionProblem(param: FlowInput, value: unknown): string | null {
  const options = Array.isArray(param.options) ? param.options : [];
  const names = options.flatMap((option: unknown) =>
    isRecord(option) && typeof option.name === 'string' ? [option.name] : typeof option === 'string' ? [option] : [],
  );
  if (names.length === 0 || param.freeSolo === true || names.includes(value as string)) return null;
  const shown = names.slice(0, SHOWN_OPTIONS).join(', ');
  const more = names.length > SHOWN_OPTIONS ? `, … (${names.length})` : '';
  return `must be one of ${shown}${more}${typeof value === 'string' ? didYouMean(value, names) : ''}`;
}

/** JSON text with variables in it is no JSON yet; Flowise fills them in first. */
function jsonProblem(value: unknown): string | null {
  if (typeof value === 'object') return null;
  if (typeof value !== 'string') return 'must be JSON';
  if (value.includes('{{')) return null;
  try {
    JSON.parse(value);
    return null;
  } catch {
    return 'must be JSON';
  }
}

function listOf(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string') return null;
  try {
    const parsed = JSON.parse(value) as unknown;
    return Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
