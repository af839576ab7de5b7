import { expect } from 'vitest';
import { AuditLog } from '../../src/audit/index.ts';
import type { Database } from '../../src/database/index.ts';
import { operations } from '../../src/flowcharts/graph/operations.ts';
import { ensureOwner, ensureVaultWithAdmin, OWNER } from '../../src/identity/index.ts';
import type { FlowrightError } from '../../src/kernel/errors.ts';
import { type AnyOperation, createInvoke, type Principal, type Role } from '../../src/operations/index.ts';
import type { TestStore } from './databases.ts';

// biome-ignore lint/suspicious/noExplicitAny: payloads of every shape; tests look into them
export type Payload = any;

export interface Who {
  role?: Role;
  kind?: Principal['kind'];
  vault?: string;
}

/** The operations on flowcharts, called as every door calls them, on a database of their own. */
export interface Flowcharts {
  database: Database;
  /** Moves with each call. */
  clock: { now(): Date };
  /** The payload, which must be what the operation's schema says. */
  ask(name: string, input?: Record<string, unknown>, who?: Who): Promise<Payload>;
  /** What it is refused with. */
  refusal(name: string, input?: Record<string, unknown>, who?: Who): Promise<FlowrightError>;
  makeVault(vaultId: string): Promise<void>;
}

export async function openFlowcharts(store: TestStore): Promise<Flowcharts> {
  const database = await store.open();
  let time = Date.parse('2026-03-01T10:00:00Z');
  const clock = {
    now: () => {
      time += 1_000;
      return new Date(time);
    },
  };
  await ensureOwner(database, clock);
  const invoke = createInvoke({ database, clock }, database, new AuditLog(database, clock));
  const call = async (name: string, input: Record<string, unknown>, { role, kind, vault }: Who): Promise<Payload> => {
    const operation = operations.find((candidate) => candidate.name === name) as AnyOperation;
    const principal: Principal = {
      user_id: 'local',
      kind: kind ?? 'user',
      vault_id: vault ?? 'default',
      role: role ?? 'admin',
      visible_scopes: new Set(['personal']),
      ambiguous: false,
      actor_hash: 'f'.repeat(64),
    };
    // Doors hand over parsed JSON, never the very object.
    const raw = JSON.parse(JSON.stringify(input));
    const payload = await invoke(
      operation,
      { principal, door: 'http', request_id: 'test', correlation_id: undefined },
      raw,
    );
    const sent = JSON.parse(JSON.stringify(payload));
    expect(operation.output.parse(sent)).toEqual(sent);
    return sent;
  };
  return {
    database,
    clock,
    ask: (name, input = {}, who = {}) => call(name, input, who),
    refusal: async (name, input = {}, who = {}) => {
      try {
        await call(name, input, who);
      } catch (error) {
        return error as FlowrightError;
      }
      throw new Error(`${name} was not refused`);
    },
    makeVault: async (vaultId) => {
      await database.transaction((trx) => ensureVaultWithAdmin(trx, clock, vaultId, OWNER));
    },
  };
}

export const codesOf = (error: FlowrightError): string[] =>
  (error.details.errors as { code: string; path: string }[]).map(({ code, path }) => `${code} ${path}`);

/** The graph of the worked example: every specialised type, a fallback and a dotted connector. */
export function workedGraph() {
  return {
    nodes: [
      { client_id: 's', node_type: 'start', x: 0, y: 0 },
      {
        client_id: 'p',
        node_type: 'plan',
        x: 200,
        y: 0,
        config: {
          mode: 'deterministic',
          store_mode: 'update',
          patch: { completed: true },
          route_key_on_complete: 'done',
        },
      },
      {
        client_id: 'd',
        node_type: 'decision',
        x: 400,
        y: 0,
        config: { no_match_policy: 'fallback', fallback_condition_key: 'other' },
      },
      { client_id: 'a', node_type: 'end', x: 600, y: -60 },
      { client_id: 'b', node_type: 'memory', x: 600, y: 60, config: { action: 'add' } },
    ] as Payload[],
    edges: [
      { client_id: 'e1', source: 's', target: 'p', edge_mode: 'solid' },
      { client_id: 'e2', source: 'p', target: 'd', edge_mode: 'solid' },
      { client_id: 'e3', source: 'd', target: 'a', edge_mode: 'solid', condition_key: 'done' },
      { client_id: 'e4', source: 'd', target: 'b', edge_mode: 'solid', condition_key: 'other' },
      { client_id: 'e5', source: 'p', target: 'b', edge_mode: 'dotted' },
    ] as Payload[],
  };
}
