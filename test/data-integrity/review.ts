import type { App } from '../../src/app.ts';
import { NO_STARTERS } from '../../src/flows/starter.ts';
import { ensureVaultWithAdmin, OWNER } from '../../src/identity/index.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { ErrorCode } from '../../src/kernel/errors.ts';
import type { ProposalView } from '../../src/proposals/record.ts';
import { openTestApp } from '../support/app.ts';
import type { TestStore } from '../support/databases.ts';

export interface Proposed {
  proposal_id: string;
  base_version: string | null;
  base_state_id: string | null;
}

export interface Approved extends ProposalView {
  approval_log_path: string;
  approval_log_written: boolean;
  approval_log_error: string | null;
  mirror_path: string | null;
  mirror_written: boolean;
  conflicted: string[];
}

/** The program with authoring switched on, asked as its owner: every call goes the way of every door. */
export interface Review {
  app: App;
  ask<T = unknown>(operation: string, input: Record<string, unknown>, vaultId?: string): Promise<T>;
  /** The code of a call that must be refused. */
  refused(operation: string, input: Record<string, unknown>, vaultId?: string): Promise<ErrorCode>;
  propose(draft: object, vaultId?: string): Promise<Proposed>;
  approve(proposalId: string, vaultId?: string): Promise<Approved>;
  close(): Promise<void>;
}

/** Where a store lies. */
export type Place = Pick<TestStore, 'home' | 'databaseUrl'>;

export async function openReview(store: Place, options: { clock?: Clock } = {}): Promise<Review> {
  const app = await openTestApp(store as TestStore, { ...options, env: { FLOW_AUTHORING_WRITES: '1' } });
  const ask = async <T>(operation: string, input: Record<string, unknown>, vaultId = 'default'): Promise<T> => {
    const namespace = operation.slice(0, operation.indexOf('.'));
    const found = (await app.catalogue.inNamespace(namespace)).find(({ name }) => name === operation);
    if (!found) throw new Error(`there is no operation ${operation}`);
    const principal = await app.principals.local({ identity: OWNER, vaultId, narrowTo: null, agent: false });
    const call = { principal, door: 'cli', request_id: 'review-test', correlation_id: undefined } as const;
    return (await app.invoke(found, call, input)) as T;
  };
  return {
    app,
    ask,
    refused: (operation, input, vaultId) =>
      ask(operation, input, vaultId).then(
        () => Promise.reject(new Error(`${operation} was not refused`)),
        (error: { code: ErrorCode }) => error.code,
      ),
    propose: (draft, vaultId) => ask('flow.propose', { intent: 'Because.', ...draft }, vaultId),
    approve: (proposal_id, vaultId) => ask('proposal.approve', { proposal_id }, vaultId),
    close: () => app.close(),
  };
}

/** A vault of the owner that wants no starters; it comes to be when it is not there. */
export async function withoutStarters({ app }: Review, vaultId: string): Promise<void> {
  await app.services.database.transaction(async (trx) => {
    await ensureVaultWithAdmin(trx, systemClock, vaultId, OWNER);
    await trx.updateTable('vaults').set({ starter_revision: NO_STARTERS }).where('vault_id', '=', vaultId).execute();
  });
}

/** What an edit of the flow must name. */
export async function baseOf(
  { ask }: Review,
  flowId: string,
  vaultId?: string,
): Promise<{ base_version: string; base_state_id: string }> {
  const { versions } = await ask<{ versions: { version: string; state_id: string }[] }>(
    'flow.versions',
    { flow_id: flowId },
    vaultId,
  );
  const [latest] = versions;
  if (!latest) throw new Error(`${flowId} has no version`);
  return { base_version: latest.version, base_state_id: latest.state_id };
}
