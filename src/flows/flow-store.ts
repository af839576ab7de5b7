import type { Database, Queries, Trx } from '../database/index.ts';
import { appendEvent, bumpRevision } from '../database/index.ts';
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
  const rows: { flow_id: string; updated_ms: number; summary_json: string }[] = [];
  for (const scope of query.scopes) {
    const inScope =
      query.tag === undefined ? flowsOf(queries, vaultId, scope) : taggedFlowsOf(queries, vaultId, scope, query.tag);
    rows.push(...(await inScope.limit(query.limit).execute()));
  }
  if (query.scopes.length > 1) rows.sort(newestFirst);
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
  return queries
    .selectFrom('flow_tags as tagged')
    .innerJoin('flows', (join) =>
      join.onRef('flows.vault_id', '=', 'tagged.vault_id').onRef('flows.flow_id', '=', 'tagged.flow_id'),
    )
    .select(['tagged.flow_id', 'tagged.updated_ms', 'flows.summary_json'])
    .where('tagged.vault_id', '=', vaultId)
    .where('tagged.tag', '=', tag)
    .where('tagged.scope', '=', scope)
    .orderBy('tagged.updated_ms', 'desc')
    .orderBy('tagged.flow_id');
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
    .select(['version', 'scope'])
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .where('retired_at', 'is', null)
    .executeTakeFirst();
  return row ? { version: row.version, scope: row.scope as Scope } : null;
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
): Promise<boolean> {
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
