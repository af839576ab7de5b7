import type { Proof } from './change.ts';

type Kind = Proof['kind'];
type Verdict = 'tightened' | 'loosened' | 'changed' | 'same';

/**
 * What going from the row to the column does to the proof. A person's look is the strictest; that something exists is
 * the weakest; a value says more than existence and a test more than a value. An agent's judgement and a machine's
 * measurement cannot be weighed against each other. docs/flow-diff.md has the same table; a test compares the two.
 */
export const KIND_CHANGE: Record<Kind, Record<Kind, Verdict>> = {
  human_review: {
    human_review: 'same',
    artifact_exists: 'loosened',
    value_match: 'loosened',
    test_pass: 'loosened',
    agent_check: 'loosened',
  },
  artifact_exists: {
    human_review: 'tightened',
    artifact_exists: 'same',
    value_match: 'tightened',
    test_pass: 'tightened',
    agent_check: 'tightened',
  },
  value_match: {
    human_review: 'tightened',
    artifact_exists: 'loosened',
    value_match: 'same',
    test_pass: 'tightened',
    agent_check: 'changed',
  },
  test_pass: {
    human_review: 'tightened',
    artifact_exists: 'loosened',
    value_match: 'loosened',
    test_pass: 'same',
    agent_check: 'changed',
  },
  agent_check: {
    human_review: 'tightened',
    artifact_exists: 'loosened',
    value_match: 'changed',
    test_pass: 'changed',
    agent_check: 'same',
  },
};

/** Kind and evidence together: when one is tightened and the other loosened, the proof has changed. */
export function compareProof(before: Proof, after: Proof): Verdict {
  const kind = KIND_CHANGE[before.kind][after.kind];
  const evidence = compareEvidence(before.evidence_required, after.evidence_required);
  if (kind === 'same') return evidence;
  return evidence === 'same' || evidence === kind ? kind : 'changed';
}

function compareEvidence(before: boolean, after: boolean): Verdict {
  if (before === after) return 'same';
  return after ? 'tightened' : 'loosened';
}
