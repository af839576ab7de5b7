import type { FlowBundle } from '../../src/flows/index.ts';

/** A valid flow; everything that matters to a test can be overridden. */
export function sampleFlow(
  flowId: string,
  options: {
    version?: string;
    scope?: 'personal' | 'project' | 'org';
    steps?: number;
    tags?: string[];
    title?: string;
    summary?: string;
    updated?: string;
    instruction?: string;
  } = {},
): FlowBundle {
  const count = options.steps ?? 2;
  const steps = Array.from({ length: count }, (_, at) => ({
    schema: 'knowtation.flow_step/v0' as const,
    step_id: `${flowId}#${at + 1}`,
    flow_id: flowId,
    ordinal: at + 1,
    owned_job: `Part ${at + 1}`,
    instruction: options.instruction ?? `Do part ${at + 1}.`,
    trigger: 'When asked.',
    when_not_to_run: 'When nobody asked.',
    requires: [],
    boundaries: ['Stay inside.'],
    skill_refs: [],
    inputs: [],
    outputs: [],
    output_shape: 'A sentence.',
    verification: { kind: 'human_review' as const, evidence_required: true, description: 'Somebody looked.' },
    automatable: 'manual' as const,
  }));
  return {
    flow: {
      schema: 'knowtation.flow/v0',
      flow_id: flowId,
      title: options.title ?? `Title of ${flowId}`,
      version: options.version ?? '1.0.0',
      scope: options.scope ?? 'personal',
      summary: options.summary ?? 'A flow for tests.',
      tags: options.tags ?? ['test'],
      steps: steps.map(({ step_id }) => step_id),
      inputs: [],
      vault_mirror_path: null,
      updated: options.updated ?? '2026-01-01T00:00:00Z',
      truncated: false,
    },
    steps,
  };
}
