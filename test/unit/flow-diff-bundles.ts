import fc from 'fast-check';
import type { FlowBundle, FlowStep } from '../../src/flows/index.ts';

/** A step of a flow in the making: what it says, and the earlier step it takes something from. */
export interface Draft {
  id: number;
  texts: string[];
  boundaries: string[];
  requires: FlowStep['requires'];
  skills: FlowStep['skill_refs'];
  outputs: FlowStep['outputs'];
  takes: number | null;
  kind: FlowStep['verification']['kind'];
  evidence: boolean;
  automatable: FlowStep['automatable'];
}

interface Frame {
  title: string;
  summary: string;
  scope: 'personal' | 'project' | 'org';
  tags: string[];
  inputs: FlowBundle['flow']['inputs'];
  mirror: string | null;
  version: string;
}

// Few words, so that equal and nearly equal steps are common.
const word = fc.constantFrom('read', 'write', 'check', 'the', 'note', 'report', 'again', '書', 'mañana', '…');
const sentence = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '));
const name = fc.constantFrom('a', 'b', 'c');

const draft: fc.Arbitrary<Omit<Draft, 'id'>> = fc.record({
  texts: fc.array(sentence, { minLength: 6, maxLength: 6 }),
  boundaries: fc.array(fc.oneof(sentence, fc.constant('')), { maxLength: 3 }),
  requires: fc.array(
    fc.record({ kind: fc.constantFrom('tool' as const, 'file' as const), id: fc.constantFrom('x', 'y') }),
    { maxLength: 3 },
  ),
  skills: fc.array(
    fc.record({ kind: fc.constantFrom('cli' as const, 'mcp_prompt' as const), id: fc.constantFrom('x', 'y') }),
    { maxLength: 2 },
  ),
  outputs: fc.array(fc.record({ name, type: fc.constantFrom('string', 'number') }), { minLength: 1, maxLength: 2 }),
  takes: fc.option(fc.nat(4)),
  kind: fc.constantFrom('human_review', 'artifact_exists', 'value_match', 'test_pass', 'agent_check'),
  evidence: fc.boolean(),
  automatable: fc.constantFrom('manual', 'agent_assisted', 'automatable'),
});

const frame: fc.Arbitrary<Frame> = fc.record({
  title: sentence,
  summary: fc.oneof(sentence, fc.constant('')),
  scope: fc.constantFrom('personal', 'project', 'org'),
  tags: fc.uniqueArray(fc.constantFrom('t1', 't2', 't3', 't4'), { maxLength: 4 }),
  inputs: fc.array(fc.record({ name, type: fc.constantFrom('string', 'number'), required: fc.boolean() }), {
    maxLength: 3,
  }),
  mirror: fc.constantFrom(null, 'meta/flows/a.md', 'meta/flows/b.md'),
  version: fc.constantFrom('1.0.0', '1.0.1', '1.1.0', '2.0.0'),
});

/** What somebody may do to the steps of a flow. */
type Edit =
  | { act: 'remove' | 'double'; at: number }
  | { act: 'move'; at: number; to: number }
  | { act: 'insert' | 'replace'; at: number; draft: Omit<Draft, 'id'> }
  | { act: 'reword'; at: number; field: number; text: string };

const at = fc.nat(7);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ act: fc.constantFrom('remove' as const, 'double' as const), at }),
  fc.record({ act: fc.constant('move' as const), at, to: at }),
  fc.record({ act: fc.constantFrom('insert' as const, 'replace' as const), at, draft }),
  fc.record({ act: fc.constant('reword' as const), at, field: fc.nat(5), text: sentence }),
);

const numbered = (drafts: Omit<Draft, 'id'>[]): Draft[] => drafts.map((one, id) => ({ ...one, id }));

/** Any flow of one to seven steps. */
export const anyBundle: fc.Arbitrary<FlowBundle> = fc
  .tuple(frame, fc.array(draft, { minLength: 1, maxLength: 7 }))
  .map(([fields, drafts]) => bundleOf(fields, numbered(drafts)));

/** Two versions of a flow: the second is the first after some edits, or something else altogether. */
export const anyTwoVersions: fc.Arbitrary<[FlowBundle, FlowBundle]> = fc.oneof(
  fc.tuple(anyBundle, anyBundle),
  fc
    .tuple(
      frame,
      fc.option(frame),
      fc.array(draft, { minLength: 1, maxLength: 7 }),
      fc.array(edit, { minLength: 1, maxLength: 5 }),
    )
    .map(([fields, others, drafts, edits]): [FlowBundle, FlowBundle] => {
      const first = numbered(drafts);
      return [bundleOf(fields, first), bundleOf(others ?? fields, edited(first, edits))];
    }),
);

function edited(drafts: Draft[], edits: Edit[]): Draft[] {
  const list = [...drafts];
  let next = 1_000;
  for (const step of edits) {
    const place = step.at % list.length;
    const one = list[place] as Draft;
    if (step.act === 'remove' && list.length > 1) list.splice(place, 1);
    if (step.act === 'double') list.splice(place, 0, { ...one, id: next++ });
    if (step.act === 'move') list.splice(step.to % list.length, 0, ...list.splice(place, 1));
    if (step.act === 'insert') list.splice(place, 0, { ...step.draft, id: next++ });
    if (step.act === 'replace') list[place] = { ...step.draft, id: one.id };
    if (step.act === 'reword') list[place] = { ...one, texts: one.texts.with(step.field, step.text) };
  }
  return list;
}

/** The flow with its numbers; a reference to a step that does not come before becomes one to an input of the flow. */
function bundleOf(fields: Frame, drafts: readonly Draft[]): FlowBundle {
  const flowId = 'flow_any';
  const steps = drafts.map((one, position): FlowStep => {
    const [owned_job, instruction, trigger, when_not_to_run, output_shape, description] = one.texts as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const source = drafts.slice(0, position).findIndex(({ id }) => id === one.takes);
    const output = drafts[source]?.outputs[0]?.name;
    const from = output === undefined ? 'flow.inputs.a' : `${flowId}#${source + 1}.outputs.${output}`;
    return {
      schema: 'knowtation.flow_step/v0',
      step_id: `${flowId}#${position + 1}`,
      flow_id: flowId,
      ordinal: position + 1,
      owned_job,
      instruction,
      trigger,
      when_not_to_run,
      requires: one.requires,
      boundaries: one.boundaries,
      skill_refs: one.skills,
      inputs: one.takes === null ? [] : [{ name: 'taken', from }],
      outputs: one.outputs,
      output_shape,
      verification: { kind: one.kind, evidence_required: one.evidence, description },
      automatable: one.automatable,
    };
  });
  const { title, summary, scope, tags, inputs, mirror, version } = fields;
  return {
    flow: {
      schema: 'knowtation.flow/v0',
      flow_id: flowId,
      title,
      version,
      scope,
      summary,
      tags,
      steps: steps.map(({ step_id }) => step_id),
      inputs,
      vault_mirror_path: mirror,
      updated: '2026-01-01T00:00:00Z',
      truncated: false,
    },
    steps,
  };
}
