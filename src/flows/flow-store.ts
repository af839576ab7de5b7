import { sql } from 'kysely';
import type { Database, Queries, Trx } from '../database/index.ts';
import { appendEvent, bumpRevision, takeTurns } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import { compareSemver } from '../kernel/semver.ts';
import type { Scope } from '../operations/index.ts';
import { flowDefinitionForClient, flowSummaryForClient } from './client-view.ts';
import type { Flow, FlowBundle, FlowStep, FlowSummary } from './flow-schema.ts';
import { indexFlowWords } from './flow-words.ts';
import { flowContentSha256, flowStateId } from './state-id.ts';

/** The topic whose revision moves with every change of a vault's flows. */
export function flowsTopic(vaultId: string): string {
  return `flows:${vaultId}`;
}

export interface ListQuery {
  scopes: readonly Scope[];
  tag?: string | undefined;
  limit: number;
}

/**
 * The newest flows of the given scopes. Each scope is one range of an index that is already in list order, read up to
 * the limit; so the cost follows the limit, not the size of the library.
 */
export async function listSummaries(queries: Queries, vaultId: string, query: ListQuery): Promise<FlowSummary[]> {
  // One statement, so that a flow that changes scope meanwhile is in it exactly once.
  const [first, ...others] = query.scopes.map((scope) => {
    const inScope =
      query.tag === undefined ? flowsOf(queries, vaultId, scope) : taggedFlowsOf(queries, vaultId, scope, query.tag);
    return queries.selectFrom(inScope.limit(query.limit).as('newest')).selectAll();
  });
  if (!first) return [];
  const rows = await others.reduce((all, next) => all.unionAll(next), first).execute();
  if (others.length > 0) rows.sort(newestFirst);
  return rows.slice(0, query.limit).map(({ summary_json }) => JSON.parse(summary_json) as FlowSummary);
}

function flowsOf(queries: Queries, vaultId: string, scope: Scope) {
  return queries
    .selectFrom('flows')
    .select(['flow_id', 'updated_ms', 'summary_json'])
    .where('vault_id', '=', vaultId)
    .where('scope', '=', scope)
    .where('retired_at', 'is', null)
    .orderBy('updated_ms', 'desc')
    .orderBy('flow_id');
}

function taggedFlowsOf(queries: Queries, vaultId: string, scope: Scope, tag: string) {
  return (
    queries
      .selectFrom('flow_tags as tagged')
      .innerJoin('flows', (join) =>
        join.onRef('flows.vault_id', '=', 'tagged.vault_id').onRef('flows.flow_id', '=', 'tagged.flow_id'),
      )
      .select(['tagged.flow_id', 'tagged.updated_ms', 'flows.summary_json'])
      .where('tagged.vault_id', '=', vaultId)
      .where('tagged.tag', '=', tag)
      .where('tagged.scope', '=', scope)
      // Not a bare `is null`, which would lure PostgreSQL to the index of all flows that are not retired; nor an
      // expression that it takes to be rarely true, and so to be worth starting from.
      .where(sql<boolean>`(flows.retired_at is null) is not false`)
      .orderBy('tagged.updated_ms', 'desc')
      .orderBy('tagged.flow_id')
  );
}

function newestFirst(left: { updated_ms: number; flow_id: string }, right: { updated_ms: number; flow_id: string }) {
  if (left.updated_ms !== right.updated_ms) return right.updated_ms - left.updated_ms;
  return left.flow_id < right.flow_id ? -1 : 1;
}

/** The latest version and its scope, which decides who may see any version; null when there is none or it is retired. */
export async function findLatest(
  queries: Queries,
  vaultId: string,
  flowId: string,
): Promise<{ version: string; scope: Scope } | null> {
  const row = await queries
    .selectFrom('flows')
    .select(['version', 'scope', 'retired_at'])
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .executeTakeFirst();
  return row && row.retired_at === null ? { version: row.version, scope: row.scope as Scope } : null;
}

export async function readVersion(
  queries: Queries,
  vaultId: string,
  flowId: string,
  version: string,
): Promise<FlowBundle | null> {
  const row = await queries
    .selectFrom('flow_versions')
    .select('flow_json')
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .where('version', '=', version)
    .executeTakeFirst();
  if (!row) return null;
  const steps = await queries
    .selectFrom('flow_steps')
    .select('step_json')
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .where('version', '=', version)
    .orderBy('ordinal')
    .execute();
  return {
    flow: JSON.parse(row.flow_json) as Flow,
    steps: steps.map(({ step_json }) => JSON.parse(step_json) as FlowStep),
  };
}

/** The hash of a stored version's content, or null. */
export async function versionSha256(queries: Queries, vaultId: string, flow: Flow): Promise<string | null> {
  const row = await queries
    .selectFrom('flow_versions')
    .select('content_sha256')
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flow.flow_id)
    .where('version', '=', flow.version)
    .executeTakeFirst();
  return row?.content_sha256 ?? null;
}

/** Is the id taken, by any version or by a retired flow? */
export async function isFlowKnown(queries: Queries, vaultId: string, flowId: string): Promise<boolean> {
  const row = await queries
    .selectFrom('flows')
    .select('flow_id')
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Adds a version; the index row moves to it when it is the newest. An existing version is never changed: false then.
 * Everything that writes a flow ends here, inside the caller's transaction.
 */
export async function addVersion(
  trx: Trx,
  dialect: Database['dialect'],
  clock: Clock,
  vaultId: string,
  bundle: FlowBundle,
  proposalId: string | null = null,
): Promise<boolean> {
  await takeTurns(trx, dialect, flowsTopic(vaultId));
  const { flow, steps } = flowDefinitionForClient(bundle.flow, bundle.steps);
  const state = { state_id: flowStateId(flow, steps), content_sha256: flowContentSha256(flow, steps) };
  const inserted = await trx
    .insertInto('flow_versions')
    .values({
      vault_id: vaultId,
      flow_id: flow.flow_id,
      version: flow.version,
      flow_json: JSON.stringify(flow),
      ...state,
      created_at: isoNow(clock),
      proposal_id: proposalId,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (Number(inserted.numInsertedOrUpdatedRows ?? 0) === 0) return false;
  const key = { vault_id: vaultId, flow_id: flow.flow_id, version: flow.version };
  await trx
    .insertInto('flow_steps')
    .values(
      steps.map((step) => ({ ...key, ordinal: step.ordinal, step_id: step.step_id, step_json: JSON.stringify(step) })),
    )
    .execute();
  const latest = await findLatest(trx, vaultId, flow.flow_id);
  if (!latest || compareSemver(flow.version, latest.version) > 0) {
    await moveHead(trx, dialect, vaultId, { flow, steps }, state);
  }
  await appendEvent(trx, clock, {
    stream: `vault:${vaultId}`,
    type: 'flow.version.added',
    payload: { flow_id: flow.flow_id, version: flow.version, scope: flow.scope },
  });
  await bumpRevision(trx, flowsTopic(vaultId));
  return true;
}

async function moveHead(
  trx: Trx,
  dialect: Database['dialect'],
  vaultId: string,
  { flow, steps }: FlowBundle,
  state: { state_id: string; content_sha256: string },
): Promise<void> {
  const updatedMs = Date.parse(flow.updated);
  const head = {
    version: flow.version,
    scope: flow.scope,
    updated_ms: updatedMs,
    summary_json: JSON.stringify(flowSummaryForClient(flow)),
    ...state,
  };
  const { flow_key } = await trx
    .insertInto('flows')
    .values({ vault_id: vaultId, flow_id: flow.flow_id, retired_at: null, ...head })
    .onConflict((conflict) => conflict.columns(['vault_id', 'flow_id']).doUpdateSet(head))
    .returning('flow_key')
    .executeTakeFirstOrThrow();
  await trx.deleteFrom('flow_tags').where('vault_id', '=', vaultId).where('flow_id', '=', flow.flow_id).execute();
  const tags = [...new Set(flow.tags)];
  if (tags.length > 0) {
    const row = { vault_id: vaultId, scope: flow.scope, updated_ms: updatedMs, flow_id: flow.flow_id };
    await trx
      .insertInto('flow_tags')
      .values(tags.map((tag) => ({ ...row, tag })))
      .execute();
  }
  await indexFlowWords(trx, dialect, { key: flow_key, vaultId, flow, steps });
}
