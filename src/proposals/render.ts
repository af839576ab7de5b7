import { inert, inertLine, textTable } from '../kernel/terminal.ts';
import type { ProposalSummaryView, ProposalView } from './record.ts';

export function proposalTable(answer: { proposals: ProposalSummaryView[]; next_cursor: string | null }): string {
  if (answer.proposals.length === 0) return '(no proposals)';
  const rows = answer.proposals.map((proposal) => [
    proposal.proposal_id,
    proposal.status,
    evaluationWord(proposal),
    subjectOf(proposal),
    proposal.proposed_by,
    proposal.intent,
  ]);
  const table = textTable(['PROPOSAL', 'STATUS', 'EVALUATION', 'CHANGES', 'BY', 'INTENT'], rows);
  return answer.next_cursor === null ? table : `${table}\n(more: --cursor ${answer.next_cursor})`;
}

function evaluationWord({ evaluation_status }: ProposalSummaryView): string {
  return evaluation_status === 'none' ? '-' : evaluation_status;
}

function subjectOf({ flow_meta, path }: ProposalSummaryView): string {
  if (!flow_meta) return path;
  const { kind, flow_id, version, scope } = flow_meta;
  return kind === 'retire' ? `retire ${flow_id} [${scope}]` : `${kind} ${flow_id} ${version} [${scope}]`;
}

/** A card: what, why, how it stands, what to do next. The body only where it is a note; a flow has its diff. */
export function proposalCard(proposal: ProposalView): string {
  const { flow_meta, rebase } = proposal;
  const lines = [
    `proposal ${proposal.proposal_id}`,
    `${proposal.status}: ${subjectOf(proposal)}`,
    `why: ${inertLine(proposal.intent) || '(not said)'}`,
    `by ${proposal.proposed_by}${proposal.proposed_as === 'agent' ? ' (agent)' : ''} at ${proposal.created_at}`,
    `evaluation: ${proposal.evaluation_status}${proposal.evaluation_grade ? ` (${inertLine(proposal.evaluation_grade)})` : ''}`,
  ];
  for (const { id, passed } of proposal.evaluation_checklist) lines.push(`  [${passed ? 'x' : ' '}] ${inertLine(id)}`);
  if (proposal.evaluation_comment) lines.push(`  ${inertLine(proposal.evaluation_comment)}`);
  if (proposal.evaluation_waiver) {
    lines.push(`  waived by ${proposal.evaluation_waiver.by}: ${inertLine(proposal.evaluation_waiver.reason)}`);
  }
  if (proposal.auto_flag_reasons.length > 0)
    lines.push(`flagged: ${proposal.auto_flag_reasons.map(inertLine).join(', ')}`);
  if (proposal.decided_by) {
    const own = proposal.self_approved ? ' (the author)' : '';
    lines.push(`${proposal.status} by ${proposal.decided_by}${own} at ${proposal.decided_at}`);
  }
  if (proposal.decision_note) lines.push(`  ${inertLine(proposal.decision_note)}`);
  if (rebase) {
    const now = [rebase.current_version, rebase.current_state_id].filter((part) => part !== null).join(' ');
    lines.push(`stale: it is ${now} by now. ${rebase.advice}`);
  }
  for (const comment of proposal.comments) {
    lines.push('', `${inertLine(comment.author)}, ${comment.created_at}:`, inert(comment.body));
  }
  if (!flow_meta) lines.push('', inert(proposal.body));
  if (proposal.status === 'proposed')
    lines.push('', `flowright proposal diff ${proposal.proposal_id} shows the change.`);
  return lines.join('\n');
}
