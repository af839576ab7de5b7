import * as z from 'zod';
import type { Database } from '../database/index.ts';
import { compareDraft, type DraftReader, FlowDiffResponse, renderFlowDiff } from '../diff/index.ts';
import { COLOURS, inertLine, paint } from '../kernel/terminal.ts';
import { type Context, defineOperation } from '../operations/index.ts';
import { findProposal, ProposalId, unknownProposal } from '../proposals/index.ts';
import { noteText } from '../vault/index.ts';
import { diffNotes, NoteDiff, type NoteDiffView } from './note-diff.ts';

interface Needs {
  database: Database;
  drafts: DraftReader;
}

const ProposalDiff = z
  .strictObject({
    schema: z.literal('flowright.proposal_diff/v1'),
    proposal_id: z.string(),
    flow: FlowDiffResponse.nullable().describe('Of a flow; null otherwise'),
    note: NoteDiff.nullable().describe('Of a note, against what it is based on; null otherwise'),
  })
  .meta({ id: 'ProposalDiffResponse' });

/** What a proposal would change, whatever it is about. */
const proposalDiff = defineOperation({
  name: 'proposal.diff',
  summary: 'Show what a proposal would change',
  input: z.strictObject({ proposal_id: ProposalId }),
  output: ProposalDiff,
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/proposals/{id}/diff', rename: { id: 'proposal_id' }, tag: 'Proposals' },
  mcp: { tool: 'proposal_diff' },
  cli: {
    command: 'proposal diff <proposal_id>',
    render: ({ flow, note }) => (flow ? renderFlowDiff(flow, { colour: false }) : renderNoteDiff(note, false)),
    renderInColour: ({ flow, note }) => (flow ? renderFlowDiff(flow, { colour: true }) : renderNoteDiff(note, true)),
  },
  errors: ['FLOW_SCOPE_AMBIGUOUS', 'FLOW_DRAFT_INVALID'],
  handle: async ({ principal, database, drafts }: Context<Needs>, { proposal_id }) => {
    const proposal = await findProposal(database.queries, principal, proposal_id);
    if (!proposal) throw unknownProposal(proposal_id);
    const answer = { schema: 'flowright.proposal_diff/v1' as const, proposal_id };
    if (proposal.flow_id !== null) {
      return { ...answer, flow: await compareDraft(drafts, principal, proposal.flow_id, proposal_id), note: null };
    }
    const frontmatter = JSON.parse(proposal.frontmatter_json) as Record<string, unknown>;
    const after = noteText({ frontmatter, body: proposal.body });
    return { ...answer, flow: null, note: await diffNotes(proposal.path, proposal.base_text, after) };
  },
});

export const operations = [proposalDiff];

function renderNoteDiff(note: NoteDiffView | null, colour: boolean): string {
  if (!note) return 'No difference.';
  const inks: Record<string, string> = { '+': COLOURS.green, '-': COLOURS.red };
  const lines = note.hunks.flatMap(({ before_line, after_line, lines }) => [
    `@@ line ${before_line} → ${after_line} @@`,
    ...lines.map((line) => {
      const shown = (line[0] ?? ' ') + inertLine(line.slice(1));
      const ink = inks[line[0] ?? ''];
      return colour && ink ? paint(ink, shown) : shown;
    }),
  ]);
  const head = `${inertLine(note.path)}${note.is_new ? ' (new)' : ''}`;
  return [head, ...(lines.length === 0 ? ['No difference.'] : lines), ...(note.truncated ? ['(truncated)'] : [])].join(
    '\n',
  );
}
