import * as z from 'zod';
import type { Issue } from '../kernel/errors.ts';
import { issuesOf, jsonPointer } from '../operations/index.ts';
import { buildFlowStepId, FLOW_ID_RE } from './flow-id.ts';
import { type FlowBundle, FlowSchema, FlowStepSchema } from './flow-schema.ts';
import { MAX_BUNDLE_BYTES, MAX_LIST_ITEMS, MAX_REF_ID, MAX_STEPS_PER_FLOW, MAX_TAGS } from './limits.ts';

export type BundleVerdict = { ok: true; bundle: FlowBundle } | { ok: false; issues: Issue[] };

const BundleSchema = z.strictObject({
  flow: FlowSchema,
  steps: z.array(FlowStepSchema).min(1).max(MAX_STEPS_PER_FLOW),
});

/** An answer must stay small, whatever was sent. */
const MAX_ISSUES = 200;
const TOO_BIG: Issue = { code: 'too_big', message: `must be at most ${MAX_BUNDLE_BYTES} bytes`, path: '' };

/**
 * The strict judge of a flow and its steps. Pure. Reports every problem with a JSON pointer; what passes is normalised:
 * optional arrays present, no unknown key, nothing left to check later.
 */
export function validateFlowBundle(candidate: unknown): BundleVerdict {
  // Judged by its size first: a list of a million wrong items would cost a million complaints.
  if (isLargerThan(candidate, MAX_BUNDLE_BYTES)) return { ok: false, issues: [TOO_BIG] };
  const parsed = BundleSchema.safeParse(candidate);
  const issues = parsed.success ? [] : issuesOf(parsed.error);
  issues.push(...relationIssues(candidate));
  if (parsed.success && Buffer.byteLength(JSON.stringify(parsed.data)) > MAX_BUNDLE_BYTES) {
    issues.push(TOO_BIG);
  }
  if (parsed.success && issues.length === 0) return { ok: true, bundle: parsed.data };
  return { ok: false, issues: issues.slice(0, MAX_ISSUES) };
}

/** At least so many characters as JSON. Stops counting there, and does not mind how deep it goes. */
function isLargerThan(candidate: unknown, maximum: number): boolean {
  let size = 0;
  const open: unknown[] = [candidate];
  while (open.length > 0 && size <= maximum) {
    const value = open.pop();
    size += typeof value === 'string' ? value.length + 2 : 2;
    if (value === null || typeof value !== 'object') continue;
    for (const [key, member] of Object.entries(value)) {
      size += Array.isArray(value) ? 1 : key.length + 3;
      if (size > maximum) return true;
      open.push(member);
    }
  }
  return size > maximum;
}

/** One sentence for logs and reports. */
export function verdictReason(issues: Issue[]): string {
  return issues.map((issue) => `${issue.path || '/'}: ${issue.message}`).join('; ');
}

/** A step of unchecked shape: its place in the list, and its ordinal and id where they are what they should be. */
interface LooseStep {
  index: number;
  ordinal: number | undefined;
  stepId: string | undefined;
  record: Record<string, unknown>;
}

/** What holds between the parts. Works on anything, so that a wrong part does not hide wrong relations. */
function relationIssues(candidate: unknown): Issue[] {
  const bundle = asRecord(candidate);
  const flow = asRecord(bundle.flow);
  const steps = asArray(bundle.steps)
    .slice(0, MAX_STEPS_PER_FLOW)
    .map((step, index): LooseStep => {
      const record = asRecord(step);
      const ordinal = Number.isInteger(record.ordinal) ? (record.ordinal as number) : undefined;
      return { index, ordinal, stepId: shortText(record.step_id), record };
    });
  return [
    ...identityIssues(asText(flow.flow_id), steps),
    ...orderIssues(flow, steps),
    ...referenceIssues(flow, steps),
    ...duplicateTagIssues(asArray(flow.tags).slice(0, MAX_TAGS)),
  ];
}

function identityIssues(flowId: string | undefined, steps: LooseStep[]): Issue[] {
  // An id that is none would only be repeated in every complaint.
  if (flowId === undefined || !FLOW_ID_RE.test(flowId)) return [];
  return steps.flatMap(({ index, ordinal, stepId, record }) => {
    const issues: Issue[] = [];
    if (typeof record.flow_id === 'string' && record.flow_id !== flowId) {
      issues.push(issue('flow_id_mismatch', 'must equal the flow_id of the flow', ['steps', index, 'flow_id']));
    }
    if (ordinal !== undefined && stepId !== undefined && stepId !== buildFlowStepId(flowId, ordinal)) {
      const message = `must be ${buildFlowStepId(flowId, ordinal)}`;
      issues.push(issue('step_id_mismatch', message, ['steps', index, 'step_id']));
    }
    return issues;
  });
}

function orderIssues(flow: Record<string, unknown>, steps: LooseStep[]): Issue[] {
  if (steps.length === 0 || steps.some(({ ordinal }) => ordinal === undefined)) return [];
  const issues: Issue[] = [];
  const sorted = [...steps].sort((left, right) => (left.ordinal ?? 0) - (right.ordinal ?? 0));
  sorted.forEach(({ index, ordinal }, position) => {
    if (ordinal !== position + 1) {
      const message = 'must count 1, 2, 3 … with the others, without gap or repeat';
      issues.push(issue('ordinal_gap', message, ['steps', index, 'ordinal']));
    }
  });
  const listed = asArray(flow.steps);
  const given = sorted.map(({ record }) => record.step_id);
  if (Array.isArray(flow.steps) && (listed.length !== given.length || listed.some((id, at) => id !== given[at]))) {
    issues.push(issue('step_order', 'must list the given steps in order of their ordinals', ['flow', 'steps']));
  }
  return issues;
}

/** `inputs[].from` names a flow input or an output of an earlier step. */
function referenceIssues(flow: Record<string, unknown>, steps: LooseStep[]): Issue[] {
  /** Source → ordinal of the step that makes it; 0 for the flow's own inputs. */
  const sources = new Map<string, number>();
  for (const name of namesIn(flow.inputs)) sources.set(`flow.inputs.${name}`, 0);
  for (const { ordinal, stepId, record } of steps) {
    for (const name of namesIn(record.outputs)) sources.set(`${stepId ?? ''}.outputs.${name}`, ordinal ?? 0);
  }
  return steps.flatMap(({ index, ordinal, record }) =>
    asArray(record.inputs)
      .slice(0, MAX_LIST_ITEMS)
      .flatMap((input, at) => {
        const from = asText(asRecord(input).from);
        const source = from === undefined ? 0 : sources.get(from);
        if (source !== undefined && (source === 0 || source < (ordinal ?? 0))) return [];
        const message = 'must name flow.inputs.<name> or <step id>.outputs.<name> of an earlier step';
        return [issue('unresolved_reference', message, ['steps', index, 'inputs', at, 'from'])];
      }),
  );
}

function duplicateTagIssues(tags: unknown[]): Issue[] {
  const seen = new Set<unknown>();
  return tags.flatMap((tag, at) => {
    if (!seen.has(tag)) {
      seen.add(tag);
      return [];
    }
    return [issue('duplicate', 'repeats an earlier tag', ['flow', 'tags', at])];
  });
}

/** Names within the limits only: what goes beyond them is complained of already, and may be of any size and number. */
function namesIn(list: unknown): string[] {
  return asArray(list)
    .slice(0, MAX_LIST_ITEMS)
    .flatMap((item) => shortText(asRecord(item).name) ?? []);
}

function shortText(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_REF_ID ? value : undefined;
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function issue(code: string, message: string, path: PropertyKey[]): Issue {
  return { code, message, path: jsonPointer(path) };
}

function asRecord(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
