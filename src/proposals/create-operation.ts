import * as z from 'zod';
import type { Database } from '../database/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { badRequest, ERRORS, refusal } from '../kernel/errors.ts';
import { type Context, defineOperation, plainText } from '../operations/index.ts';
import type { Policy } from '../policy/index.ts';
import {
  NoteBody,
  NoteFrontmatter,
  NotePath,
  type NoteState,
  type Notes,
  noteText,
  refuseServerPath,
  stripProvenance,
} from '../vault/index.ts';
import { createProposal, earlierProposal, idempotencyOf, type ProposalDraft } from './create.ts';
import { ExternalRef, IdempotencyKey, Intent } from './input.ts';
import { Label, ProposalRecord, proposalRecord } from './record.ts';
import { proposalCard } from './render.ts';

interface Needs {
  database: Database;
  clock: Clock;
  policy: Policy;
  notes: Notes;
}

/** Words that the server itself writes there. */
const OWN_SOURCES = ['flow', 'flow_capture'];

const input = z.strictObject({
  path: NotePath.optional().describe('Note to change; a new one in the inbox when left out'),
  body: NoteBody.optional().describe('The note as it should be, without its front block; left out, it stays as it is'),
  frontmatter: NoteFrontmatter.optional().describe('The front block as it should be; left out, it stays as it is'),
  intent: Intent,
  base_state_id: z
    .string()
    .max(64)
    .optional()
    .describe('State id of the note you changed; the present one when left out'),
  external_ref: ExternalRef.optional(),
  labels: z.array(Label).max(32).default([]).describe('Words to find it by'),
  source: plainText(64).trim().default('').describe('Where it comes from: human, agent, import …'),
  idempotency_key: IdempotencyKey.optional(),
});

export const createNoteProposal = defineOperation({
  name: 'proposal.create',
  summary: 'Propose a change of a note',
  description: 'Asks for a note to be written. Nothing changes until a person approves it. For flows use flow_propose.',
  input,
  output: ProposalRecord,
  access: { can: 'propose' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/proposals', status: 201, tag: 'Proposals' },
  mcp: { tool: 'proposal_create' },
  cli: {
    command: 'proposal create',
    examples: ['flowright proposal create --path projects/plan.md --body "# Plan" --intent "Start the plan"'],
    render: proposalCard,
  },
  errors: ['CONFLICT', 'NOTE_UNREADABLE'],
  audit: (_input, { proposal_id, path }) => ({ proposal_id, path }),
  prepare: async (context: Context<Needs>, given): Promise<ProposalDraft> => {
    if (OWN_SOURCES.includes(given.source)) {
      throw refusal('BAD_REQUEST', `The source ${given.source} is the server's own. Name another, or none.`, {
        errors: [{ code: 'reserved', message: 'is reserved', path: '/source' }],
      });
    }
    if (given.body === undefined && given.frontmatter === undefined) {
      const issue = { code: 'invalid_type', message: 'is missing: say what the note should hold', path: '/body' };
      throw badRequest([issue], 'proposal.create');
    }
    const path = given.path ?? `inbox/proposal-${context.clock.now().getTime()}.md`;
    refuseServerPath(path);
    const idempotency = idempotencyOf(given.idempotency_key, given);
    const isRepeat = (await earlierProposal(context.database.queries, context.principal, idempotency)) !== null;
    const current = await context.notes.state(context.database.queries, context.principal.vault_id, path);
    if (!isRepeat && given.base_state_id !== undefined && given.base_state_id !== current.state_id) {
      throw refusal('CONFLICT', `The note has changed since you read it. ${ERRORS.CONFLICT.next}`, {
        current_state_id: current.state_id,
      });
    }
    return {
      target: 'note',
      path,
      source: given.source,
      intent: given.intent,
      body: (given.body ?? current.body).trimEnd(),
      frontmatter: stripProvenance(given.frontmatter ?? current.frontmatter),
      labels: [...new Set(given.labels)],
      external_ref: given.external_ref ?? '',
      base_state_id: current.state_id,
      base_sha256: current.text_sha256,
      base_text: textOf(current),
      review_queue: '',
      auto_approvable: false,
      flow: null,
      idempotency,
    };
  },
  handle: async (context, draft) =>
    proposalRecord(await createProposal(context.trx, context, context.principal, draft), [], null),
});

/** What a reviewer compares with: without who wrote it when. */
function textOf({ text_sha256, frontmatter, body }: NoteState): string | null {
  return text_sha256 === null ? null : noteText({ frontmatter: stripProvenance(frontmatter), body });
}
