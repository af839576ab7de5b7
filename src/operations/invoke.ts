import type { Database, Trx } from '../database/index.ts';
import { asFlowrightError, type FlowrightError, refusal } from '../kernel/errors.ts';
import { parseInput } from './input.ts';
import type { AnyOperation, Call, Context } from './operation.ts';
import { may, rolesWith } from './role.ts';

/** Where acts and refusals are written down. */
export interface AuditPort {
  done(trx: Trx, call: Call, action: string, detail: Record<string, unknown>): Promise<void>;
  refused(call: Call, action: string, error: FlowrightError): Promise<void>;
}

export type Invoke = (operation: AnyOperation, call: Call, raw: unknown) => Promise<unknown>;

/**
 * Every door calls an operation through this one function: authorise, parse, handle. A write runs in one transaction
 * together with its audit line, so that neither exists without the other.
 */
export function createInvoke<Needs extends object>(services: Needs, database: Database, audit: AuditPort): Invoke {
  const contextOf = (call: Call, trx: Trx | undefined): Context<Needs> =>
    Object.assign(Object.create(services) as Needs, call, { trx }) as Context<Needs>;

  return async (operation, call, raw) => {
    try {
      authorise(operation, call);
      const input = parseInput(operation, raw);
      if (operation.effect === 'read') return await operation.handle(contextOf(call, undefined), input);
      return await database.transaction(async (trx) => {
        const payload = await operation.handle(contextOf(call, trx), input);
        await audit.done(trx, call, operation.name, operation.audit?.(input, payload) ?? {});
        return payload;
      });
    } catch (thrown) {
      const error = asFlowrightError(thrown);
      if (isAuditable(operation, error)) await audit.refused(call, operation.name, error);
      throw error;
    }
  };
}

export function authorise(operation: AnyOperation, call: Call): void {
  const { access } = operation;
  if ('public' in access) return;
  const { principal } = call;
  if (access.hub && principal.vault_id !== 'default') {
    throw refusal('FORBIDDEN', `${operation.name} concerns the whole hub: use it as an admin of the vault default.`);
  }
  if (may(principal, access.can)) return;
  const agentBar = principal.kind === 'agent' && may({ role: principal.role, kind: 'user' }, access.can);
  throw refusal(
    'FORBIDDEN',
    agentBar
      ? `${operation.name} is for people: an agent may not do it, whatever its role.`
      : `${operation.name} needs the role ${rolesWith(access.can).join(' or ')} in this vault; yours is ${principal.role}.`,
  );
}

/** Refused authority is always worth a line; other refusals only where something would have been written. */
function isAuditable(operation: AnyOperation, error: FlowrightError): boolean {
  if (error.status === 401 || error.status === 403) return true;
  return operation.effect !== 'read' && error.status < 500;
}
