import type { FlowStep } from '../flows/index.ts';

/** Kinds that nothing can check while a flow is run, until the gate for that opens. */
const GATED_KINDS = ['value_match', 'test_pass', 'agent_check'];

/** Said by the server about a draft, never by the draft about itself; approving stays an act of a person. */
export function isAutoApprovable(steps: readonly FlowStep[]): boolean {
  return steps.every(({ verification: { kind, evidence_required } }) => {
    if (kind === 'human_review') return false;
    return !(evidence_required && GATED_KINDS.includes(kind));
  });
}
