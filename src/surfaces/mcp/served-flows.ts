import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { App } from '../../app.ts';
import type { FlowPage } from '../../flows/index.ts';
import { FLOW_ID_RE } from '../../flows/index.ts';
import { asFlowrightError } from '../../kernel/errors.ts';
import { newRequestId } from '../../kernel/ids.ts';
import type { Principal } from '../../operations/index.ts';

/** Who calls, for the vault named in a call's arguments if any. */
export type ResolvePrincipal = (vaultId: string | undefined) => Promise<Principal>;

/** Flows a page of prompts or skills is made from. */
const PAGE_SIZE = 100;

/** A page of what is served, with MCP's own word for where the next one begins. */
export interface ServedPage<T> {
  items: T[];
  nextCursor?: string;
}

type ReadPage<T> = (principal: Principal, input: { after: string | undefined; limit: number }) => Promise<FlowPage<T>>;

/**
 * One page for who calls now. A cursor names a flow that the caller has seen, and decides nothing but where to go on:
 * what may be seen is resolved again for every page.
 */
export async function servedPage<T>(
  resolve: ResolvePrincipal,
  cursor: string | undefined,
  read: ReadPage<T>,
): Promise<ServedPage<T>> {
  const after = cursor === undefined ? undefined : flowIdFrom(cursor);
  const { flows, next } = await read(await resolve(undefined), { after, limit: PAGE_SIZE });
  return { items: flows, ...(next === null ? {} : { nextCursor: Buffer.from(next).toString('base64url') }) };
}

function flowIdFrom(cursor: string): string {
  const flowId = Buffer.from(cursor, 'base64url').toString('utf8');
  if (FLOW_ID_RE.test(flowId)) return flowId;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such cursor. Begin again without one.');
}

/** Our refusals as MCP's errors, with the same code and sentence as at every other door. */
export async function refusingInMcp<T>(app: App, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown;
    const error = asFlowrightError(thrown);
    const request_id = newRequestId();
    const isOurs = error.status >= 500;
    if (isOurs) app.services.log.error({ request_id, cause: error.cause }, 'an MCP request failed');
    const kind = isOurs ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
    throw new ProtocolError(kind, error.message, { code: error.code, request_id });
  }
}
