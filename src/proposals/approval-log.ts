import { inertLine } from '../kernel/terminal.ts';
import type { ProposalRow } from './record.ts';
import type { Approver } from './target.ts';

const MAX_ID = 80;
const MAX_INTENT = 400;
const MAX_SOURCE = 120;

/** approvals/2026-01-31-<proposal id>.md */
export function approvalLogPath(proposal: ProposalRow, at: string): string {
  return `approvals/${at.slice(0, 10)}-${proposal.proposal_id.replace(/[^A-Za-z0-9-]/g, '_').slice(0, MAX_ID)}.md`;
}

/** A note that tells of the decision: hashes stand for people, and the content stays where it is. */
export function approvalLogNote(
  proposal: ProposalRow,
  approver: Approver,
): { frontmatter: Record<string, unknown>; body: string } {
  return {
    frontmatter: {
      kind: 'approval_log',
      proposal_id: proposal.proposal_id,
      target_path: proposal.path,
      approved_at: approver.at,
      approved_by: approver.principal.actor_hash,
      proposed_by: proposal.actor_hash,
      ...(proposal.intent === '' ? {} : { intent: proposal.intent.slice(0, MAX_INTENT) }),
      ...(proposal.source === '' ? {} : { source: proposal.source.slice(0, MAX_SOURCE) }),
    },
    body: [
      `Proposal ${proposal.proposal_id} was approved at ${approver.at}.`,
      '',
      `- changed: ${inertLine(proposal.path)}`,
      ...(proposal.flow_id ? [`- flow: ${proposal.flow_id} ${proposal.flow_version ?? '(retired)'}`] : []),
    ].join('\n'),
  };
}
