import * as z from 'zod';
import type { Issue } from '../kernel/errors.ts';
import { issuesOf, jsonPointer } from '../operations/index.ts';
import { buildFlowStepId } from './flow-id.ts';
import { type FlowBundle, FlowSchema, FlowStepSchema } from './flow-schema.ts';
import { MAX_BUNDLE_BYTES, MAX_STEPS_PER_FLOW } from './limits.ts';

export type BundleVerdict = { ok: true; bundle: FlowBundle } | { ok: false; issues: Issue[] };

const BundleSchema = z.strictObject({
  flow: FlowSchema,
  steps: z.array(FlowStepSchema).min(1).max(MAX_STEPS_PER_FLOW),
});

/**
 * The strict judge of a flow and its steps. Pure. Reports every problem with a JSON pointer; what passes is normalised:
 * optional arrays present, no unknown key, nothing left to check later.
 */
export function validateFlowBundle(candidate: unknown): BundleVerdict {
  const parsed = BundleSchema.safeParse(candidate);
  const issues = parsed.success ? [] : issuesOf(parsed.error);
  issues.push(...relationIssues(candidate));
  if (parsed.success && Buffer.byteLength(JSON.stringify(parsed.data)) > MAX_BUNDLE_BYTES) {
    issues.push({ code: 'too_big', message: `must be at most ${MAX_BUNDLE_BYTES} bytes`, path: '' });
  }
  return parsed.success && issues.length === 0 ? { ok: true, bundle: parsed.data } : { ok: false, issues };
}

/** One sentence for logs and reports. */
export function verdictReason(issues: Issue[]): string {
  return issues.map((issue) => `${issue.path || '/'}: ${issue.message}`).join('; ');
}

interface LooseStep {
  index: number;
  ordinal: unknown;
  record: Record<string, unknown>;
}

/** What holds between the parts. Works on anything, so that a wrong part does not hide wrong relations. */
function relationIssues(candidate: unknown): Issue[] {
  const bundle = asRecord(candidate);
  const flow = asRecord(bundle.flow);
  const steps: LooseStep[] = asArray(bundle.steps)
    .slice(0, MAX_STEPS_PER_FLOW)
    .map((step, index) => ({ index, ordinal: asRecord(step).ordinal, record: asRecord(step) }));
  return [
    ...identityIssues(flow, steps),
    ...orderIssues(flow, steps),
    ...referenceIssues(flow, steps),
    ...duplicateIssues('tag', asArray(flow.tags), ['flow', 'tags']),
  ];
}

function identityIssues(flow: Record<string, unknown>, steps: LooseStep[]): Issue[] {
  return steps.flatMap(({ index, ordinal, record }) => {
    const issues: Issue[] = [];
    if (typeof record.flow_id === 'string' && record.flow_id !== flow.flow_id) {
      issues.push(issue('flow_id_mismatch', 'must equal the flow_id of the flow', ['steps', index, 'flow_id']));
    }
    const expected = buildFlowStepId(String(flow.flow_id), Number(ordinal));
    if (typeof record.step_id === 'string' && Number.isInteger(ordinal) && record.step_id !== expected) {
      issues.push(issue('step_id_mismatch', `must be ${expected}`, ['steps', index, 'step_id']));
    }
    return issues;
  });
}

function orderIssues(flow: Record<string, unknown>, steps: LooseStep[]): Issue[] {
  const ordinals = steps.map(({ ordinal }) => ordinal);
  if (steps.length === 0 || !ordinals.every(Number.isInteger)) return [];
  const issues: Issue[] = [];
  const sorted = [...steps].sort((left, right) => Number(left.ordinal) - Number(right.ordinal));
  sorted.forEach(({ index, ordinal }, position) => {
    if (ordinal !== position + 1) {
      issues.push(
        issue('ordinal_gap', 'ordinals must count 1, 2, 3 … without gap or repeat', ['steps', index, 'ordinal']),
      );
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
  const sources = new Map<string, number>();
  for (const input of asArray(flow.inputs)) sources.set(`flow.inputs.${asRecord(input).name}`, 0);
  for (const { ordinal, record } of steps) {
    for (const output of asArray(record.outputs)) {
      sources.set(`${record.step_id}.outputs.${asRecord(output).name}`, Number(ordinal));
    }
  }
  return steps.flatMap(({ index, ordinal, record }) =>
    asArray(record.inputs).flatMap((input, at) => {
      const { from } = asRecord(input);
      const source = typeof from === 'string' ? sources.get(from) : 0;
      if (source !== undefined && (source === 0 || source < Number(ordinal))) return [];
      const message = 'must name flow.inputs.<name> or <step id>.outputs.<name> of an earlier step';
      return [issue('unresolved_reference', message, ['steps', index, 'inputs', at, 'from'])];
    }),
  );
}

function duplicateIssues(what: string, values: unknown[], path: string[]): Issue[] {
  return values.flatMap((value, at) =>
    values.indexOf(value) < at ? [issue('duplicate', `repeats an earlier ${what}`, [...path, at])] : [],
  );
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
