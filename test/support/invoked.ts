import { expect } from 'vitest';
import { AuditLog } from '../../src/audit/index.ts';
import type { Database } from '../../src/database/index.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { type AnyOperation, createInvoke, type Principal } from '../../src/operations/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: payloads of every shape; tests look into them
export type Payload = any;

export interface Asking {
  role?: Principal['role'];
  kind?: Principal['kind'];
  vault?: string;
  correlation_id?: string;
}

/** Operations of one room, called as every door calls them, with the services they need and nothing else. */
export function invoked<Services extends { database: Database; clock: Clock }>(
  operations: readonly AnyOperation[],
  services: Services,
) {
  const invoke = createInvoke(services, services.database, new AuditLog(services.database, services.clock));
  const ask = async (name: string, input: unknown, asking: Asking = {}): Promise<Payload> => {
    const operation = operations.find((candidate) => candidate.name === name);
    if (!operation) throw new Error(`there is no operation ${name}`);
    const principal: Principal = {
      user_id: 'local',
      kind: asking.kind ?? 'user',
      vault_id: asking.vault ?? 'default',
      role: asking.role ?? 'admin',
      visible_scopes: new Set(['personal']),
      ambiguous: false,
      actor_hash: 'f'.repeat(64),
    };
    const call = { principal, door: 'http', request_id: 'test', correlation_id: asking.correlation_id } as const;
    const payload = await invoke(operation, call, input);
    expect(operation.output.parse(payload)).toEqual(payload);
    return payload;
  };
  /** The code of a refusal; `done` when there was none. */
  const codeOf = (name: string, input: unknown, asking?: Asking): Promise<string> =>
    ask(name, input, asking).then(
      () => 'done',
      (error: { code: string }) => error.code,
    );
  return { ask, codeOf };
}
