import type { Database } from '../database/index.ts';
import { LOWEST_SCOPES, narrowScopes, type Scope } from '../operations/index.ts';
import { flowDefinitionForClient } from './client-view.ts';
import { FLOW_ID_RE, SEMVER_RE } from './flow-id.ts';
import type { FlowDefinitionResult, FlowListResult, FlowSearchResult } from './flow-schema.ts';
import { listSummaries, readVersion } from './flow-store.ts';
import { searchFlowWords } from './flow-words.ts';
import { MAX_FLOW_SUMMARIES, MAX_STEPS_PER_FLOW } from './limits.ts';
import { findVisibleHead } from './versions.ts';

const SEARCH_LIMIT = 20;

/** Scopes come from the server's resolution of who asks; without them only the lowest is seen. */
interface Seen {
  visibleScopes?: ReadonlySet<Scope> | undefined;
}

export interface ListOptions extends Seen {
  scope?: Scope | undefined;
  tag?: string | undefined;
  limit?: number | undefined;
}

/** The visible flows, latest versions only, newest change first. */
export async function listFlows(database: Database, vaultId: string, options: ListOptions): Promise<FlowListResult> {
  const { filter, effective } = narrowScopes(options.visibleScopes ?? LOWEST_SCOPES, options.scope);
  const limit = Math.min(options.limit ?? MAX_FLOW_SUMMARIES, MAX_FLOW_SUMMARIES);
  const rows = await listSummaries(database.queries, vaultId, { scopes: filter, tag: options.tag, limit: limit + 1 });
  return {
    schema: 'knowtation.flow_list/v0',
    vault_id: vaultId,
    effective_scope: effective,
    flows: rows.slice(0, limit),
    truncated: rows.length > limit,
  };
}

export interface SearchOptions extends Seen {
  query: string;
  scope?: Scope | undefined;
  limit?: number | undefined;
}

/** The visible flows in which every word occurs, best match first. */
export async function searchFlows(
  database: Database,
  vaultId: string,
  options: SearchOptions,
): Promise<FlowSearchResult> {
  const { filter, effective } = narrowScopes(options.visibleScopes ?? LOWEST_SCOPES, options.scope);
  const limit = Math.min(options.limit ?? SEARCH_LIMIT, MAX_FLOW_SUMMARIES);
  const { queries, dialect } = database;
  const rows = await searchFlowWords(queries, dialect, vaultId, {
    text: options.query,
    scopes: filter,
    limit: limit + 1,
  });
  return {
    schema: 'flowright.flow_search/v1',
    vault_id: vaultId,
    effective_scope: effective,
    query: options.query,
    flows: rows.slice(0, limit),
    truncated: rows.length > limit,
  };
}

export interface GetOptions extends Seen {
  version?: string | undefined;
  /** Whoever administers the vault may read a version of a retired flow by its number. */
  includeRetired?: boolean | undefined;
}

/**
 * One definition, or null where there is none or it may not be seen: the two are the same. The latest version's scope
 * decides, for pinned versions too.
 */
export async function getFlow(
  database: Database,
  vaultId: string,
  flowId: string,
  options: GetOptions,
): Promise<FlowDefinitionResult | null> {
  if (!FLOW_ID_RE.test(flowId) || (options.version !== undefined && !SEMVER_RE.test(options.version))) return null;
  const includeRetired = options.includeRetired === true && options.version !== undefined;
  const latest = await findVisibleHead(database.queries, vaultId, flowId, { ...options, includeRetired });
  if (!latest) return null;
  const bundle = await readVersion(database.queries, vaultId, flowId, options.version ?? latest.version);
  if (!bundle) return null;
  const { flow, steps } = flowDefinitionForClient(bundle.flow, bundle.steps);
  const whole = steps.length <= MAX_STEPS_PER_FLOW;
  return {
    schema: 'knowtation.flow_get/v0',
    vault_id: vaultId,
    flow: whole ? flow : { ...flow, steps: flow.steps.slice(0, MAX_STEPS_PER_FLOW), truncated: true },
    steps: whole ? steps : steps.slice(0, MAX_STEPS_PER_FLOW),
  };
}
