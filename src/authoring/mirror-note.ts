import { type FlowBundle, flowStateId } from '../flows/index.ts';
import { projectFlow } from '../projection/index.ts';
import type { ProposalRow } from '../proposals/index.ts';
import { noteText } from '../vault/index.ts';

const BLOCK = '\n```json\n';

/**
 * The note that shows a flow to people who read files: the steps in words, then the bundle itself in one block. The
 * library stays the source; this is its picture. The same flow and the same decision give the same text.
 */
export function mirrorText(
  { flow, steps }: FlowBundle,
  proposal: Pick<ProposalRow, 'proposed_as' | 'actor_hash'>,
  approvedBy: string,
  at: string,
): string {
  return noteText({
    frontmatter: {
      type: 'flow',
      flow_id: flow.flow_id,
      version: flow.version,
      flow_version: flow.version,
      scope: flow.scope,
      tags: flow.tags,
      updated: flow.updated,
      canonical: 'hub',
      state_id: flowStateId(flow, steps),
      author_kind: proposal.proposed_as === 'agent' ? 'agent' : 'human',
      knowtation_edited_at: at,
      knowtation_proposed_by: proposal.actor_hash,
      knowtation_approved_by: approvedBy,
    },
    body: `${projectFlow(flow, steps, 'cli_runbook').rendered}${BLOCK}${JSON.stringify({ flow, steps }, null, 2)}\n\`\`\``,
  });
}

/** What stands around a mirror's last block: words that show the bundle and change nothing. */
export function wordsOfMirror(text: string): string {
  const start = text.lastIndexOf(BLOCK);
  const end = text.lastIndexOf('\n```');
  return start < 0 || end <= start ? text : text.slice(0, start) + text.slice(end);
}

/** The bundle of a mirror's last block, unchecked; null when there is none. Words above it cannot stand in for it. */
export function bundleInMirror(body: string): unknown {
  const start = body.lastIndexOf(BLOCK);
  const end = body.lastIndexOf('\n```');
  if (start < 0 || end <= start) return null;
  try {
    return JSON.parse(body.slice(start + BLOCK.length, end));
  } catch {
    return null;
  }
}
