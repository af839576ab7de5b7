import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/database/index.ts';
import { NOT_EVALUATED, type ProposalRow } from '../../src/proposals/record.ts';

const CHUNK = 200;

/** Fills a vault with closed proposals, many rows a statement. Every tenth is of a flow, the rest of notes. */
export async function fillProposals(database: Database, vaultId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += CHUNK) {
    const rows = Array.from({ length: Math.min(CHUNK, count - from) }, (_, at) => closedProposal(vaultId, from + at));
    await database.queries.insertInto('proposals').values(rows).execute();
  }
}

function closedProposal(vaultId: string, at: number): Omit<ProposalRow, 'proposal_key'> {
  const flow = at % 10 === 0 ? `flow_n${at % 100}` : null;
  const when = new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString();
  return {
    proposal_id: randomUUID(),
    vault_id: vaultId,
    target: flow ? 'flow' : 'note',
    status: at % 3 === 0 ? 'discarded' : 'approved',
    path: flow ? `meta/flows/n${at % 100}.md` : `projects/n${at % 1_000}.md`,
    source: flow ? 'flow' : 'human',
    intent: 'Handles one kind of ticket from arrival to proof that it was solved.',
    body: 'Read the ticket, follow the checklist and write down what you changed. '.repeat(20),
    frontmatter_json: '{}',
    labels_json: '["bench"]',
    label_words: '\nbench\n',
    external_ref: '',
    base_state_id: 'kn1_0000000000000000',
    base_sha256: null,
    base_text: null,
    flow_id: flow,
    flow_kind: flow ? 'edit' : null,
    flow_version: flow ? '1.0.1' : null,
    base_version: flow ? '1.0.0' : null,
    scope: flow ? 'personal' : null,
    auto_approvable: 0,
    review_queue: '',
    review_severity: 'standard',
    flag_reasons_json: '[]',
    evaluation_status: 'none',
    evaluation_json: JSON.stringify(NOT_EVALUATED),
    waiver_json: null,
    proposed_by: 'local',
    proposed_as: 'local',
    actor_hash: '0'.repeat(64),
    decided_by: 'local',
    decided_at: when,
    decision_note: '',
    self_approved: 0,
    applied_state_id: null,
    idempotency_key: `key-${vaultId}-${at}`,
    request_sha256: null,
    created_at: when,
    updated_at: when,
  };
}
