import type { Database, Trx } from '../database/index.ts';
import { asFlowrightError, type FlowrightError, refusal } from '../kernel/errors.ts';
import type { Ready } from '../kernel/ready.ts';
import { parseInput } from './input.ts';
import type { AnyOperation, Call, Context } from './operation.ts';
import { may, rolesWith } from './role.ts';

/** Where acts and refusals are written down. */
export interface AuditPort {
  done(trx: Trx, call: Call, action: string, detail: Record<string, unknown>): Promise<void>;
  refused(call: Call, action: string, error: FlowrightError): Promise<void>;
  /** An act whose line is written already came to nothing: the same detail again, so that the two can be paired. */
  failed(call: Call, action: string, error: FlowrightError, detail: Record<string, unknown>): Promise<void>;
}

/**
 * Answers at once where the handler does, so that an answer that is kept ready waits for nothing. The input may be a
 * function that reads it: what a caller may not do is refused before what the caller sent is looked at.
 */
export type Invoke = (operation: AnyOperation, call: Call, raw: unknown) => Ready<unknown>;

/**
 * Every door calls an operation through this one function: authorise, parse, handle. A write runs in one transaction
 * together with its audit line, so that neither exists without the other.
 */
export function createInvoke<Needs extends object>(services: Needs, database: Database, audit: AuditPort): Invoke {
  // The services are the prototype: one small object a call, however many services there are.
  const contextOf = (call: Call, trx: Trx | undefined): Context<Needs> =>
    Object.assign(Object.create(services) as Needs, call, { trx }) as Context<Needs>;

  const told = new WeakSet<FlowrightError>();

  const write = async (operation: AnyOperation, call: Call, input: unknown): Promise<unknown> => {
    const prepared = operation.prepare ? await operation.prepare(contextOf(call, undefined), input) : input;
    const payload = await database.transaction(async (trx) => {
      const answer = await operation.handle(contextOf(call, trx), prepared);
      await audit.done(trx, call, operation.name, operation.audit?.(input, answer) ?? {});
      return answer;
    });
    if (!operation.finish) return payload;
    try {
      return await operation.finish(contextOf(call, undefined), payload);
    } catch (thrown) {
      const error = asFlowrightError(thrown);
      await audit.failed(call, operation.name, error, operation.audit?.(input, payload) ?? {});
      told.add(error);
      throw error;
    }
  };

  const refuse = async (operation: AnyOperation, call: Call, thrown: unknown): Promise<never> => {
    const error = asFlowrightError(thrown);
    if (!told.has(error) && isAuditable(operation, error)) await audit.refused(call, operation.name, error);
    throw error;
  };

  return (operation, call, raw) => {
    try {
      authorise(operation, call);
      const input = parseInput(operation, typeof raw === 'function' ? raw() : raw);
      const isRead = operation.effect === 'read';
      const answer = isRead ? operation.handle(contextOf(call, undefined), input) : write(operation, call, input);
      return answer instanceof Promise ? answer.catch((thrown) => refuse(operation, call, thrown)) : answer;
    } catch (thrown) {
      return refuse(operation, call, thrown);
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
