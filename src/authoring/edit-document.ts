import { buildFlowStepId, type FlowBundle } from '../flows/index.ts';
import { refusal } from '../kernel/errors.ts';
import { compareSemver, parseSemver } from '../kernel/semver.ts';
import { yaml } from '../kernel/yaml.ts';

/**
 * A flow as people edit it: YAML without what follows from the order of the steps. A step keeps its number in `step`,
 * so that references to it survive when steps are moved; a new step takes a number nobody has.
 */
const HEADER = ` Say why under intent, change what you like, save and close. Nothing changes until somebody approves it.
 The order of the steps is their order here. Keep a step's number; give a new step one that nobody has yet.
 An empty file gives up.`;

interface EditStep {
  step: number;
  [field: string]: unknown;
}

const DERIVED_FLOW_KEYS = ['schema', 'flow_id', 'steps', 'updated', 'truncated'];
const DERIVED_STEP_KEYS = ['schema', 'step_id', 'flow_id', 'ordinal'];

export function editDocument(bundle: FlowBundle): string {
  const { Document } = yaml();
  const document = new Document({
    intent: '',
    flow: { ...without(bundle.flow, DERIVED_FLOW_KEYS), version: nextPatch(bundle.flow.version) },
    steps: bundle.steps.map((step) => ({ step: step.ordinal, ...without(step, DERIVED_STEP_KEYS) })),
  });
  document.commentBefore = ` ${bundle.flow.flow_id} ${bundle.flow.version}\n${HEADER}`;
  return document.toString({ lineWidth: 100 });
}

/** The version that a draft says it was made from, in its first line; null where it does not say. */
export function basedOn(text: string): string | null {
  return /^# flow_[a-z0-9_]+ (\d+\.\d+\.\d+)\s*$/m.exec(text.slice(0, 1_000))?.[1] ?? null;
}

export interface EditedFlow {
  intent: string;
  flow: Record<string, unknown>;
  steps: Record<string, unknown>[];
}

/** The whole flow again, numbered anew; null when the file was emptied. What it says is checked by the hub. */
export function readEditDocument(text: string, base: FlowBundle, now: string): EditedFlow | null {
  const { parse } = yaml();
  if (text.split('\n').every((line) => line.trim() === '' || line.startsWith('#'))) return null;
  let document: unknown;
  try {
    document = parse(text, { maxAliasCount: 0 });
  } catch (error) {
    throw refusal('FLOW_DRAFT_INVALID', `The file is not valid YAML: ${(error as Error).message.split('\n')[0]}`);
  }
  const { intent, flow, steps } = record(document);
  const { flow_id } = base.flow;
  const edited = (Array.isArray(steps) ? steps : []).map((step) => record(step) as EditStep);
  const renumbered = new Map(edited.map(({ step }, at) => [String(step), at + 1]));
  if (renumbered.size !== edited.length) {
    throw refusal('FLOW_DRAFT_INVALID', 'Two steps have the same number, or one has none. Give each its own number.');
  }
  return {
    intent: typeof intent === 'string' ? intent : '',
    flow: {
      schema: base.flow.schema,
      flow_id,
      ...record(flow),
      steps: edited.map((_, at) => buildFlowStepId(flow_id, at + 1)),
      updated: now,
      truncated: false,
    },
    steps: edited.map(({ step: _, ...fields }, at) => ({
      schema: base.steps[0]?.schema,
      step_id: buildFlowStepId(flow_id, at + 1),
      flow_id,
      ordinal: at + 1,
      ...fields,
      inputs: (Array.isArray(fields.inputs) ? fields.inputs : []).map((input) => followed(input, flow_id, renumbered)),
    })),
  };
}

/** `flow_x#2.outputs.y` points to wherever step 2 is now. Its number may be another step's by now, if it is gone. */
function followed(input: unknown, flowId: string, renumbered: Map<string, number>): unknown {
  const { from, ...rest } = record(input);
  if (typeof from !== 'string' || !from.startsWith(`${flowId}#`)) return input;
  const moved = from.replace(/^(flow_[a-z0-9_]+#)(\d+)/, (_, before: string, step: string) => {
    const at = renumbered.get(step);
    if (at !== undefined) return `${before}${at}`;
    throw refusal(
      'FLOW_DRAFT_INVALID',
      `A step takes its input from ${from}, but step ${step} is gone. Name another, or keep that step.`,
    );
  });
  return { ...rest, from: moved };
}

export function nextPatch(version: string): string {
  const [major, minor, patch] = parseSemver(version) ?? ['0', '0', '0'];
  return `${major}.${minor}.${BigInt(patch) + 1n}`;
}

/** The version a draft should carry: its own where that is greater than its base, else the base raised by one patch. */
export function raisedVersion(version: unknown, base: string): unknown {
  return typeof version !== 'string' || compareSemver(version, base) > 0 ? version : nextPatch(base);
}

function without(value: object, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

function record(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
