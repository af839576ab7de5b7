// Makes flows of plausible size for measurements: a store file that `flow store import` reads.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A flow with the given number of steps; `scope`, `tags` and `updated` decide who lists it and where. */
export function makeFlow(index, { steps = 5, scope = 'personal', tags = ['bench'] } = {}) {
  const flow_id = `flow_bench_${index}`;
  const step = (ordinal) => ({
    schema: 'knowtation.flow_step/v0',
    step_id: `${flow_id}#${ordinal}`,
    flow_id,
    ordinal,
    owned_job: `Do part ${ordinal} of procedure ${index}`,
    instruction: 'Read the ticket, follow the checklist and write down what you changed. '.repeat(3).trim(),
    trigger: 'A ticket of this kind arrives.',
    when_not_to_run: 'The ticket is a duplicate.',
    requires: [{ kind: 'tool', id: 'ticket_tool' }],
    boundaries: ['Change nothing outside the named system.', 'Stop when two attempts failed.'],
    skill_refs: [{ kind: 'cli', id: 'ticket show' }],
    inputs: [],
    outputs: [{ name: `result_${ordinal}`, type: 'text' }],
    output_shape: 'One paragraph with links.',
    verification: { kind: 'human_review', evidence_required: true, description: 'A reviewer has read the result.' },
    automatable: 'agent_assisted',
  });
  const all = Array.from({ length: steps }, (_, at) => step(at + 1));
  const flow = {
    schema: 'knowtation.flow/v0',
    flow_id,
    title: `Procedure number ${index}`,
    version: '1.0.0',
    scope,
    summary: 'Handles one kind of ticket from arrival to proof that it was solved.',
    tags,
    steps: all.map(({ step_id }) => step_id),
    inputs: [],
    vault_mirror_path: null,
    updated: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
    truncated: false,
  };
  return { flow, steps: all };
}

export function writeStore(folder, vault, bundles, extra = {}) {
  mkdirSync(folder, { recursive: true });
  const store = {
    flows: bundles.map(({ flow }) => flow),
    steps: bundles.flatMap(({ flow, steps }) => steps.map((step) => ({ ...step, flow_version: flow.version }))),
    runs: [],
    candidates: [],
    projections: [],
    ...extra,
  };
  writeFileSync(join(folder, 'hub_flow_store.json'), JSON.stringify({ vaults: { [vault]: store } }));
}
