import type { Queries } from '../database/index.ts';
import { isScope, type Scope } from '../operations/index.ts';
import type { ProposalRow } from './record.ts';

/**
 * The scopes that a proposal of a flow touches: the one it asks for and, where it changes a flow, the one that has now.
 * One that would add a flow says nothing of a flow that happens to have the same id. A note has none.
 */
export async function concernedScopes(queries: Queries, proposal: ProposalRow): Promise<Scope[]> {
  const { vault_id, flow_id, flow_kind, scope } = proposal;
  if (flow_id === null || flow_kind === 'new' || flow_kind === 'import') return [scope].filter(isScope);
  const flow = await queries
    .selectFrom('flows')
    .select('scope')
    .where('vault_id', '=', vault_id)
    .where('flow_id', '=', flow_id)
    .executeTakeFirst();
  return [scope, flow?.scope].filter(isScope);
}
