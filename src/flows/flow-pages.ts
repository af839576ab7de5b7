import type { Database } from '../database/index.ts';
import { SCOPES, type Scope } from '../operations/index.ts';
import type { Flow, FlowBundle, FlowStep } from './flow-schema.ts';

export interface PageOptions {
  visibleScopes: ReadonlySet<Scope>;
  /** The last flow of the page before. */
  after?: string | undefined;
  limit: number;
}

/** Latest versions in the order of their ids; `next` is what the next page comes after, null at the end. */
export interface FlowPage<T> {
  flows: T[];
  next: string | null;
}

/** One page of the visible flows, without their steps. A range of the index, so a page costs the same wherever it is. */
export async function pageOfFlows(database: Database, vaultId: string, options: PageOptions): Promise<FlowPage<Flow>> {
  const scopes = SCOPES.filter((scope) => options.visibleScopes.has(scope));
  if (scopes.length === 0) return { flows: [], next: null };
  const rows = await database.queries
    .selectFrom('flows')
    .innerJoin('flow_versions as latest', (join) =>
      join
        .onRef('latest.vault_id', '=', 'flows.vault_id')
        .onRef('latest.flow_id', '=', 'flows.flow_id')
        .onRef('latest.version', '=', 'flows.version'),
    )
    .select('latest.flow_json')
    .where('flows.vault_id', '=', vaultId)
    .where('flows.flow_id', '>', options.after ?? '')
    .where('flows.scope', 'in', scopes)
    .where('flows.retired_at', 'is', null)
    .orderBy('flows.flow_id')
    .limit(options.limit + 1)
    .execute();
  const flows = rows.slice(0, options.limit).map(({ flow_json }) => JSON.parse(flow_json) as Flow);
  const last = flows.at(-1);
  return { flows, next: rows.length > options.limit && last ? last.flow_id : null };
}

/** The steps of flows that were read. Versions never change, so these belong to them whatever happened meanwhile. */
export async function withSteps(database: Database, vaultId: string, flows: readonly Flow[]): Promise<FlowBundle[]> {
  if (flows.length === 0) return [];
  // Two lists rather than pairs, which SQLite would look for in every step of the vault.
  const rows = await database.queries
    .selectFrom('flow_steps')
    .select(['flow_id', 'version', 'step_json'])
    .where('vault_id', '=', vaultId)
    .where('flow_id', 'in', [...new Set(flows.map(({ flow_id }) => flow_id))])
    .where('version', 'in', [...new Set(flows.map(({ version }) => version))])
    .orderBy('flow_id')
    .orderBy('ordinal')
    .execute();
  const bundles = new Map(flows.map((flow) => [flow.flow_id, { flow, steps: [] as FlowStep[] }]));
  for (const { flow_id, version, step_json } of rows) {
    const bundle = bundles.get(flow_id);
    if (bundle?.flow.version === version) bundle.steps.push(JSON.parse(step_json) as FlowStep);
  }
  return [...bundles.values()];
}
