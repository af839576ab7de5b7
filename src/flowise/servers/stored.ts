import type { FlowiseServersTable, Queries, Trx } from '../../database/index.ts';
import { refusal } from '../../kernel/errors.ts';
import { seal, unseal } from '../../kernel/seal.ts';
import type { FlowiseAuth } from '../client/authentication.ts';
import type { KnownServer } from './known-server.ts';

/** Bound to its place: a sealed key that is copied to another row, or whose row gets another address, does not open. */
function purposeOf({ vault_id, name, url }: Pick<FlowiseServersTable, 'vault_id' | 'name' | 'url'>): string {
  return `flowise server ${vault_id} ${name} ${url}`;
}

export async function storedServers(queries: Queries, vaultId: string, key: () => Buffer): Promise<KnownServer[]> {
  const rows = await queries
    .selectFrom('flowise_servers')
    .selectAll()
    .where('vault_id', '=', vaultId)
    .orderBy('name')
    .execute();
  return rows.map((row) => ({
    name: row.name,
    url: row.url,
    auth: row.auth,
    origin: 'added',
    isMarked: Number(row.is_default) === 1,
    secret: () => openAuth(row, key),
  }));
}

export interface StoredServer {
  vault_id: string;
  name: string;
  url: string;
  /** Null keeps what is stored. */
  auth: FlowiseAuth | null;
  now: string;
}

/** True when there was one of that name; whether it is the marked one stays. */
export async function storeServer(trx: Trx, server: StoredServer, key: () => Buffer): Promise<boolean> {
  const { vault_id, name, url, auth, now } = server;
  const fields = { url, updated_at: now, ...(auth === null ? {} : sealedAuth(server, auth, key)) };
  const changed = await trx
    .updateTable('flowise_servers')
    .set(fields)
    .where('vault_id', '=', vault_id)
    .where('name', '=', name)
    .executeTakeFirst();
  if (Number(changed.numUpdatedRows) > 0) return true;
  await trx
    .insertInto('flowise_servers')
    .values({ vault_id, name, created_at: now, auth: 'none', is_default: 0, ...fields })
    .execute();
  return false;
}

function sealedAuth(server: StoredServer, auth: FlowiseAuth, key: () => Buffer) {
  const secret = auth.kind === 'key' ? auth.key : auth.kind === 'basic' ? auth.password : null;
  return {
    auth: auth.kind,
    username: auth.kind === 'basic' ? auth.username : null,
    secret_sealed: secret === null ? null : seal(key(), purposeOf(server), Buffer.from(secret, 'utf8')),
  };
}

/** Of all servers of a vault at most one is marked: one statement moves the mark. */
export async function markServer(trx: Trx, vaultId: string, name: string): Promise<void> {
  await trx
    .updateTable('flowise_servers')
    .set(({ case: choose }) => ({ is_default: choose().when('name', '=', name).then(1).else(0).end() }))
    .where('vault_id', '=', vaultId)
    .execute();
}

/** Whether the newest stored secret opens with this key; null when none is stored. */
export async function opensNewestSecret(queries: Queries, key: Buffer): Promise<boolean | null> {
  const row = await queries
    .selectFrom('flowise_servers')
    .selectAll()
    .where('secret_sealed', 'is not', null)
    .orderBy('updated_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? unseal(key, purposeOf(row), row.secret_sealed ?? '') !== null : null;
}

/** False when there was none. */
export async function removeStoredServer(trx: Trx, vaultId: string, name: string): Promise<boolean> {
  const removed = await trx
    .deleteFrom('flowise_servers')
    .where('vault_id', '=', vaultId)
    .where('name', '=', name)
    .executeTakeFirst();
  return Number(removed.numDeletedRows) > 0;
}

function openAuth(row: FlowiseServersTable, key: () => Buffer): FlowiseAuth {
  if (row.auth === 'none') return { kind: 'none' };
  const secret = unseal(key(), purposeOf(row), row.secret_sealed ?? '')?.toString('utf8');
  if (secret === undefined) {
    throw refusal(
      'SEALED_ELSEWHERE',
      `The key of Flowise server ${row.name} was sealed with another sealing.key, or its row was changed since. Put that file back, or add the server again with \`flowright server add ${row.name}\`.`,
    );
  }
  return row.auth === 'key'
    ? { kind: 'key', key: secret }
    : { kind: 'basic', username: row.username ?? '', password: secret };
}
