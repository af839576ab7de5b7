import type { FlowInput } from '../flow/model.ts';
import { isRecord } from './handles.ts';

/** Is an input shown, given what the node's other inputs hold? Each entry of show must hold, none of hide may. */
export function isShown(input: FlowInput, inputs: Record<string, unknown>): boolean {
  const { show, hide } = input;
  if (isRecord(show) && !Object.entries(show).every(([name, wanted]) => holds(inputs, name, wanted))) return false;
  return !(isRecord(hide) && Object.entries(hide).some(([name, wanted]) => holds(inputs, name, wanted)));
}

function holds(inputs: Record<string, unknown>, name: string, wanted: unknown): boolean {
  const value = parsedList(Object.hasOwn(inputs, name) ? inputs[name] : '');
  const values = Array.isArray(value) ? value : [value];
  const accepted = Array.isArray(wanted) ? wanted : [wanted];
  return accepted.some((one) => values.some((held) => matches(held, one)));
}

/** Flowise reads a text as a pattern; the only pattern in use is `.+`, anything at all, and no other is obeyed. */
function matches(held: unknown, wanted: unknown): boolean {
  if (wanted === '.+') return typeof held === 'string' && held !== '';
  return held === wanted;
}

function parsedList(value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('[') || !value.endsWith(']')) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
