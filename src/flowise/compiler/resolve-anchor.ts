import type { FlowInput } from '../flow/model.ts';
import { handleTypes, type Output, typesFit } from './handles.ts';

export type Pass = 'exact_name' | 'case_insensitive' | 'type';
export interface Resolved<T> {
  anchor: T;
  pass: Pass;
}

interface Named {
  name: string;
  id: string;
}

/**
 * The output an operation means: by name, by name in another case, by a type that only one output has, or as the only
 * one that fits the input (outputs were renamed between versions of Flowise).
 */
export function resolveOutput(
  outputs: readonly Output[],
  wanted: string,
  targetHandle: string,
): Resolved<Output> | null {
  const named = byName(outputs, wanted) ?? byType(outputs, wanted);
  if (named) return named;
  return only(outputs.filter((output) => fitsTruly(output.id, targetHandle)));
}

/**
 * The input an operation means: by name, by name in another case, by a type that only one anchor takes, or by a type of
 * the source for which only one anchor fits (BaseMemory, where the anchor takes a BaseChatMemory). Parameters that accept
 * a variable are found by name only.
 */
export function resolveInput(
  anchors: readonly FlowInput[],
  params: readonly FlowInput[],
  wanted: string,
  sourceHandles: readonly string[],
): Resolved<FlowInput> | null {
  const named = byName([...anchors, ...params], wanted) ?? byType(anchors, wanted);
  if (named) return named;
  const giving = sourceHandles.filter((handle) => handleTypes(handle).includes(wanted));
  if (giving.length === 0) return null;
  return only(anchors.filter((anchor) => giving.some((handle) => fitsTruly(handle, anchor.id))));
}

function byName<T extends Named>(anchors: readonly T[], wanted: string): Resolved<T> | null {
  const exact = anchors.find((anchor) => anchor.name === wanted);
  if (exact) return { anchor: exact, pass: 'exact_name' };
  const lower = wanted.toLowerCase();
  const alike = anchors.filter((anchor) => String(anchor.name).toLowerCase() === lower);
  return alike.length === 1 && alike[0] ? { anchor: alike[0], pass: 'case_insensitive' } : null;
}

function byType<T extends Named>(anchors: readonly T[], wanted: string): Resolved<T> | null {
  const lower = wanted.toLowerCase();
  return only(anchors.filter((anchor) => handleTypes(anchor.id).some((type) => type.toLowerCase() === lower)));
}

function only<T>(anchors: readonly T[]): Resolved<T> | null {
  return anchors.length === 1 && anchors[0] !== undefined ? { anchor: anchors[0], pass: 'type' } : null;
}

/** A handle without classes would fit everything, and so tells nothing. */
function fitsTruly(sourceHandle: string, targetHandle: string): boolean {
  return (
    handleTypes(sourceHandle).length > 0 && handleTypes(targetHandle).length > 0 && typesFit(sourceHandle, targetHandle)
  );
}
