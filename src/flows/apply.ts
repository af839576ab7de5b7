import {
  appendEvent,
  bumpRevision,
  type Database,
  type FlowsTable,
  type Queries,
  type Trx,
  takeTurns,
} from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import type { Scope } from '../operations/index.ts';
import type { FlowBundle } from './flow-schema.ts';
import { addVersion, flowsTopic } from './flow-store.ts';

/**
 * The write side of the library: what an approved proposal does to it. One file may import this one, and a lint rule
 * says which; everybody else only reads.
 */
export type Head = Pick<FlowsTable, 'version' | 'scope' | 'state_id' | 'content_sha256' | 'retired_at'> & {
  scope: Scope;
};

/** The latest version whoever may see it, a retired flow's too. */
export async function readHead(queries: Queries, vaultId: string, flowId: string): Promise<Head | null> {
  const row = await queries
    .selectFrom('flows')
    .select(['version', 'scope', 'state_id', 'content_sha256', 'retired_at'])
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .executeTakeFirst();
  return (row as Head | undefined) ?? null;
}

/** As `readHead`, and nobody else changes the vault's flows until the transaction ends. */
export async function holdHead(
  trx: Trx,
  dialect: Database['dialect'],
  vaultId: string,
  flowId: string,
): Promise<Head | null> {
  await takeTurns(trx, dialect, flowsTopic(vaultId));
  return readHead(trx, vaultId, flowId);
}

export interface ApplyNeeds {
  dialect: Database['dialect'];
  clock: Clock;
}

/** Adds the version and stamps the time of the change. Returns what was stored. */
export async function applyVersion(
  trx: Trx,
  needs: ApplyNeeds,
  vaultId: string,
  bundle: FlowBundle,
  proposalId: string,
): Promise<FlowBundle> {
  const stamped = { flow: { ...bundle.flow, updated: isoNow(needs.clock), truncated: false }, steps: bundle.steps };
  await addVersion(trx, needs.dialect, needs.clock, vaultId, stamped, proposalId);
  return stamped;
}

/** Leaves a tombstone: the id stays taken, old versions stay, nobody is shown it as a flow. */
export async function applyRetirement(trx: Trx, needs: ApplyNeeds, vaultId: string, flowId: string): Promise<void> {
  const retired_at = isoNow(needs.clock);
  const { scope } = await trx
    .updateTable('flows')
    .set({ retired_at })
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .returning('scope')
    .executeTakeFirstOrThrow();
  await appendEvent(trx, needs.clock, {
    stream: `vault:${vaultId}`,
    type: 'flow.retired',
    payload: { flow_id: flowId, scope },
  });
  await bumpRevision(trx, flowsTopic(vaultId));
}
