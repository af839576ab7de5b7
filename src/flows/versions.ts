import * as z from 'zod';
import type { Database, Queries } from '../database/index.ts';
import { compareSemver } from '../kernel/semver.ts';
import { LOWEST_SCOPES, type Scope } from '../operations/index.ts';
import { type Flow, type FlowDefinitionResult, ScopeSchema } from './flow-schema.ts';
import { MAX_STEPS_PER_FLOW } from './limits.ts';
import { flowStateId } from './state-id.ts';

/** Versions that one answer lists at most. */
export const MAX_VERSIONS_LISTED = 200;

const FlowVersionSchema = z
  .strictObject({
    version: z.string(),
    state_id: z.string().describe('What an edit of this version is based on'),
    scope: ScopeSchema,
    title: z.string(),
    step_count: z.int().min(0),
    updated: z.string(),
    created_at: z.string().describe('When the library received it, UTC'),
    proposal_id: z.string().nullable().describe('The proposal that brought it; null for starters and imports'),
  })
  .meta({ id: 'FlowVersion' });

export const FlowVersionsResponse = z
  .strictObject({
    schema: z.literal('flowright.flow_versions/v1'),
    vault_id: z.string(),
    flow_id: z.string(),
    latest_version: z.string(),
    retired_at: z.string().nullable().describe('Null while the flow is in use; only administrators see it otherwise'),
    versions: z.array(FlowVersionSchema).max(MAX_VERSIONS_LISTED).describe('Highest version first'),
    truncated: z.boolean(),
  })
  .meta({ id: 'FlowVersionsResponse' });

export type FlowVersionsResult = z.output<typeof FlowVersionsResponse>;

export interface HistoryOptions {
  visibleScopes?: ReadonlySet<Scope> | undefined;
  /** Whoever administers the vault may look at what was retired. */
  includeRetired?: boolean | undefined;
}

/** What `flows` says of a flow, retired or not. */
interface Head {
  version: string;
  scope: Scope;
  retired_at: string | null;
}

/** The latest version and its scope, which decides who may see any version; null when it may not be seen. */
export async function findVisibleHead(
  queries: Queries,
  vaultId: string,
  flowId: string,
  options: HistoryOptions,
): Promise<Head | null> {
  const row = await queries
    .selectFrom('flows')
    .select(['version', 'scope', 'retired_at'])
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .executeTakeFirst();
  if (!row || (row.retired_at !== null && !options.includeRetired)) return null;
  const head = { ...row, scope: row.scope as Scope };
  return (options.visibleScopes ?? LOWEST_SCOPES).has(head.scope) ? head : null;
}

/** The numbers of all versions, highest first; null where there is no such flow or it may not be seen. */
export async function versionNumbers(
  database: Database,
  vaultId: string,
  flowId: string,
  options: HistoryOptions,
): Promise<string[] | null> {
  const head = await findVisibleHead(database.queries, vaultId, flowId, options);
  return head && numbersOf(database.queries, vaultId, flowId);
}

/** The versions of a flow, highest first; null where there is no such flow or it may not be seen. */
export async function listVersions(
  database: Database,
  vaultId: string,
  flowId: string,
  options: HistoryOptions & { limit?: number | undefined },
): Promise<FlowVersionsResult | null> {
  const { queries } = database;
  const head = await findVisibleHead(queries, vaultId, flowId, options);
  if (!head) return null;
  const numbers = await numbersOf(queries, vaultId, flowId);
  const shown = numbers.slice(0, Math.min(options.limit ?? MAX_VERSIONS_LISTED, MAX_VERSIONS_LISTED));
  const rows = await queries
    .selectFrom('flow_versions')
    .select(['version', 'state_id', 'flow_json', 'created_at', 'proposal_id'])
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .where('version', 'in', shown)
    .execute();
  return {
    schema: 'flowright.flow_versions/v1',
    vault_id: vaultId,
    flow_id: flowId,
    latest_version: head.version,
    retired_at: head.retired_at,
    versions: rows.sort(highestFirst).map(({ flow_json, version, state_id, created_at, proposal_id }) => {
      const { scope, title, steps, updated } = JSON.parse(flow_json) as Flow;
      return { version, state_id, scope, title, step_count: steps.length, updated, created_at, proposal_id };
    }),
    truncated: numbers.length > shown.length,
  };
}

async function numbersOf(queries: Queries, vaultId: string, flowId: string): Promise<string[]> {
  const rows = await queries
    .selectFrom('flow_versions')
    .select('version')
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .execute();
  return rows.sort(highestFirst).map(({ version }) => version);
}

function highestFirst(left: { version: string }, right: { version: string }): number {
  return compareSemver(right.version, left.version);
}

const stateIds = new WeakMap<FlowDefinitionResult, string>();

/** The token of the version in an answer, computed once for each answer that is kept ready; none for a cut one. */
export function stateIdOfAnswer(answer: FlowDefinitionResult): string | undefined {
  if (answer.flow.truncated && answer.steps.length >= MAX_STEPS_PER_FLOW) return undefined;
  let stateId = stateIds.get(answer);
  if (stateId === undefined) {
    stateId = flowStateId(answer.flow, answer.steps);
    stateIds.set(answer, stateId);
  }
  return stateId;
}
