import type { Flow, FlowStep } from '../flows/index.ts';
import { inertWords, item, labelled, standing } from './inert-text.ts';

/** Kind, what proves it, and whether evidence must be shown. */
export function verificationLine({ verification }: FlowStep): string {
  const { kind, description, evidence_required } = verification;
  return `${kind} — ${inertWords(description)} (evidence required: ${evidence_required ? 'yes' : 'no'})`;
}

export function refsLine(refs: readonly { kind: string; id: string }[]): string {
  return refs.map(({ kind, id }) => `${kind}:${inertWords(id)}`).join(', ');
}

/** The boundaries of a step as list items. */
export function boundaryItems({ boundaries }: FlowStep): string[] {
  return boundaries.filter((text) => text.trim() !== '').map((text) => item(standing(text)));
}

/** Everything a step says after its owned job, as a list; optional fields only where there is something. */
export function anatomyItems(step: FlowStep): string[] {
  const boundaries = boundaryItems(step);
  const inputs = step.inputs.map(({ name, from }) => `${inertWords(name)} (from ${inertWords(from)})`);
  const outputs = step.outputs.map(({ name, type }) => `${inertWords(name)}:${inertWords(type)}`);
  return [
    item(labelled('Instruction', step.instruction)),
    item(labelled('Trigger', step.trigger)),
    item(labelled('When not to run', step.when_not_to_run)),
    ...(step.requires.length > 0 ? [`- **Requires:** ${refsLine(step.requires)}`] : []),
    ...(boundaries.length > 0 ? [item(['**Boundaries:**', ...boundaries].join('\n'))] : []),
    ...(step.skill_refs.length > 0 ? [`- **Skill refs:** ${refsLine(step.skill_refs)}`] : []),
    ...(inputs.length > 0 ? [`- **Inputs:** ${inputs.join(', ')}`] : []),
    ...(outputs.length > 0 ? [`- **Outputs:** ${outputs.join(', ')}`] : []),
    item(labelled('Output shape', step.output_shape)),
    `- **Verification:** ${verificationLine(step)}`,
    `- **Automatable:** ${step.automatable}`,
  ];
}

/** A step under a heading that names its job: what skills and prompts show. */
export function namedStep(step: FlowStep): string {
  return [`## Step ${step.ordinal}: ${inertWords(step.owned_job)}`, '', ...anatomyItems(step)].join('\n');
}

/** What the flow wants to be told before it starts; null when nothing. */
export function flowInputs(flow: Flow): string | null {
  if (flow.inputs.length === 0) return null;
  const items = flow.inputs.map(
    ({ name, type, required }) => `- ${required ? 'required' : 'optional'}: ${inertWords(name)} (${inertWords(type)})`,
  );
  return ['## Inputs', '', ...items].join('\n');
}
