import { type ExpressionBuilder, sql } from 'kysely';
import type { Database, ProposalsTable, Queries, Schema, Trx } from '../database/index.ts';
import type { Principal } from '../operations/index.ts';
import type { ProposalRow, SummaryRow } from './record.ts';

export const MAX_COMMENTS = 200;

type NewProposal = Omit<ProposalRow, 'proposal_key'>;

export async function insertProposal(trx: Trx, row: NewProposal): Promise<ProposalRow> {
  return trx.insertInto('proposals').values(row).returningAll().executeTakeFirstOrThrow();
}

/**
 * What a principal may read. A note's proposals are open to the vault. Those of a flow follow the flow's scope and the
 * scope they ask for; one that would add a flow says nothing of a flow that happens to have the same id.
 */
function isVisible(principal: Principal) {
  const held = [...principal.visible_scopes];
  return (where: ExpressionBuilder<Schema & { flows: Schema['flows'] }, 'proposals' | 'flows'>) => {
    if (principal.ambiguous || held.length === 0) return where('proposals.target', '=', 'note');
    return where.or([
      where('proposals.target', '=', 'note'),
      where.and([
        where('proposals.scope', 'in', held),
        where.or([
          where('flows.scope', 'is', null),
          where('flows.scope', 'in', held),
          where.and([
            where('proposals.flow_kind', 'in', ['new', 'import']),
            where('proposals.status', '<>', 'approved'),
          ]),
        ]),
      ]),
    ]);
  };
}

function visibleProposals(queries: Queries, principal: Principal) {
  return queries
    .selectFrom('proposals')
    .leftJoin('flows', (join) =>
      join.onRef('flows.vault_id', '=', 'proposals.vault_id').onRef('flows.flow_id', '=', 'proposals.flow_id'),
    )
    .where('proposals.vault_id', '=', principal.vault_id)
    .where(isVisible(principal));
}

/** The proposal, or null where there is none in this vault or it may not be seen: the two are the same. */
export async function findProposal(
  queries: Queries,
  principal: Principal,
  proposalId: string,
): Promise<ProposalRow | null> {
  const row = await visibleProposals(queries, principal)
    .selectAll('proposals')
    .where('proposals.proposal_id', '=', proposalId)
    .executeTakeFirst();
  return row ?? null;
}

export interface ProposalFilter {
  status?: ProposalsTable['status'] | undefined;
  label?: string | undefined;
  source?: string | undefined;
  path_prefix?: string | undefined;
  evaluation_status?: ProposalsTable['evaluation_status'] | undefined;
  review_queue?: string | undefined;
  review_severity?: ProposalsTable['review_severity'] | undefined;
  flow_id?: string | undefined;
  proposed_by?: string | undefined;
  before?: number | undefined;
  limit: number;
}

const SUMMARY_COLUMNS = [
  'proposals.proposal_key',
  'proposals.proposal_id',
  'proposals.vault_id',
  'proposals.target',
  'proposals.status',
  'proposals.path',
  'proposals.source',
  'proposals.intent',
  'proposals.labels_json',
  'proposals.flow_id',
  'proposals.flow_kind',
  'proposals.flow_version',
  'proposals.base_version',
  'proposals.base_state_id',
  'proposals.scope',
  'proposals.evaluation_status',
  'proposals.review_queue',
  'proposals.review_severity',
  'proposals.auto_approvable',
  'proposals.proposed_by',
  'proposals.created_at',
  'proposals.updated_at',
] as const;

/** Newest first. Bodies are not read. */
export async function listProposals(
  queries: Queries,
  principal: Principal,
  filter: ProposalFilter,
): Promise<SummaryRow[]> {
  let query = visibleProposals(queries, principal).select(SUMMARY_COLUMNS);
  for (const column of [
    'status',
    'source',
    'evaluation_status',
    'review_queue',
    'review_severity',
    'proposed_by',
  ] as const) {
    const wanted = filter[column];
    if (wanted !== undefined) query = query.where(`proposals.${column}`, '=', wanted as never);
  }
  if (filter.flow_id !== undefined) query = query.where('proposals.flow_id', '=', filter.flow_id);
  if (filter.label !== undefined) query = query.where(holdsLabel(filter.label));
  if (filter.path_prefix !== undefined) query = query.where(isUnderFolder(filter.path_prefix));
  if (filter.before !== undefined) query = query.where('proposals.proposal_key', '<', filter.before);
  const rows = await query.orderBy('proposals.proposal_key', 'desc').limit(filter.limit).execute();
  return rows as SummaryRow[];
}

/** Said with functions that both engines share; LIKE would fold the case of letters on one of them. */
function holdsLabel(label: string) {
  const line = `\n${label.toLowerCase()}\n`;
  return sql<boolean>`replace(proposals.label_words, ${line}, '') <> proposals.label_words`;
}

function isUnderFolder(prefix: string) {
  const folder = prefix.replace(/^\/+|\/+$/g, '');
  const length = [...folder].length + 1;
  return sql<boolean>`(proposals.path = ${folder} or substr(proposals.path, 1, ${sql.lit(length)}) = ${`${folder}/`})`;
}

/** Changes a proposal only if its status is still one of these; false when somebody else was first. */
export async function changeProposal(
  trx: Trx,
  proposal: ProposalRow,
  from: readonly ProposalRow['status'][],
  change: Partial<NewProposal>,
): Promise<boolean> {
  const result = await trx
    .updateTable('proposals')
    .set(change)
    .where('proposal_key', '=', proposal.proposal_key)
    .where('status', 'in', from)
    .executeTakeFirst();
  return Number(result.numUpdatedRows) === 1;
}

/**
 * The open proposals that were made for the same thing lose. One that would add a flow of the same id under a lower
 * scope is left as it is: its author may not learn that the id is taken above.
 */
export async function markConflicted(
  trx: Trx,
  winner: ProposalRow,
  rivals: { flow_id: string } | { path: string },
  at: string,
): Promise<{ proposal_id: string; scope: string | null }[]> {
  let query = trx
    .updateTable('proposals')
    .set({ status: 'conflicted', updated_at: at })
    .where('vault_id', '=', winner.vault_id)
    .where('status', '=', 'proposed')
    .where('proposal_key', '<>', winner.proposal_key)
    .where('target', '=', winner.target);
  if ('path' in rivals) query = query.where('path', '=', rivals.path);
  else {
    const higher = { personal: ['personal', 'project', 'org'], project: ['project', 'org'], org: ['org'] };
    const seeing = higher[(winner.scope ?? 'org') as keyof typeof higher];
    query = query
      .where('flow_id', '=', rivals.flow_id)
      .where(({ or, eb }) => or([eb('flow_kind', 'in', ['edit', 'retire']), eb('scope', 'in', seeing)]));
  }
  return query.returning(['proposal_id', 'scope']).execute();
}

/** The same author's proposal with the same key, if there was one. */
export async function findByIdempotencyKey(
  queries: Queries,
  vaultId: string,
  author: string,
  key: string,
): Promise<ProposalRow | null> {
  const row = await queries
    .selectFrom('proposals')
    .selectAll()
    .where('vault_id', '=', vaultId)
    .where('proposed_by', '=', author)
    .where('idempotency_key', '=', key)
    .executeTakeFirst();
  return row ?? null;
}

export async function commentsOf(queries: Database['queries'], proposalKey: number) {
  return queries
    .selectFrom('proposal_comments')
    .select(['author', 'author_kind', 'body', 'created_at'])
    .where('proposal_key', '=', proposalKey)
    .orderBy('comment_key')
    .limit(MAX_COMMENTS)
    .execute();
}
