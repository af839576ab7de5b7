import {
  FLOW_SCHEMA,
  FLOW_STEP_SCHEMA,
  type Flow,
  type FlowBundle,
  type FlowStep,
  type FlowSummary,
} from './flow-schema.ts';

/** A flow in a list. Key order is the wire order; nothing of the steps but their number. */
export function flowSummaryForClient(flow: Flow): FlowSummary {
  return {
    schema: FLOW_SCHEMA,
    flow_id: flow.flow_id,
    title: flow.title,
    version: flow.version,
    scope: flow.scope,
    summary: flow.summary,
    tags: flow.tags ?? [],
    step_count: flow.steps.length,
    updated: flow.updated,
    truncated: flow.truncated === true,
  };
}

/** The whole definition: exactly the keys of the contract in wire order, steps by ordinal. */
export function flowDefinitionForClient(flow: Flow, steps: FlowStep[]): FlowBundle {
  return { flow: flowForClient(flow), steps: [...steps].sort((a, b) => a.ordinal - b.ordinal).map(stepForClient) };
}

function flowForClient(flow: Flow): Flow {
  return {
    schema: FLOW_SCHEMA,
    flow_id: flow.flow_id,
    title: flow.title,
    version: flow.version,
    scope: flow.scope,
    summary: flow.summary,
    tags: flow.tags ?? [],
    steps: flow.steps ?? [],
    inputs: (flow.inputs ?? []).map(({ name, type, required }) => ({ name, type, required })),
    vault_mirror_path: flow.vault_mirror_path ?? null,
    updated: flow.updated,
    truncated: flow.truncated === true,
  };
}

function stepForClient(step: FlowStep): FlowStep {
  return {
    schema: FLOW_STEP_SCHEMA,
    step_id: step.step_id,
    flow_id: step.flow_id,
    ordinal: step.ordinal,
    owned_job: step.owned_job,
    instruction: step.instruction,
    trigger: step.trigger,
    when_not_to_run: step.when_not_to_run,
    requires: (step.requires ?? []).map(({ kind, id }) => ({ kind, id })),
    boundaries: step.boundaries ?? [],
    skill_refs: (step.skill_refs ?? []).map(({ kind, id }) => ({ kind, id })),
    inputs: (step.inputs ?? []).map(({ name, from }) => ({ name, from })),
    outputs: (step.outputs ?? []).map(({ name, type }) => ({ name, type })),
    output_shape: step.output_shape,
    verification: {
      kind: step.verification.kind,
      evidence_required: step.verification.evidence_required,
      description: step.verification.description,
    },
    automatable: step.automatable,
  };
}
