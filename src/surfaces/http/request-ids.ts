import type { IncomingHttpHeaders } from 'node:http';
import { newRequestId, REQUEST_ID_RE } from '../../kernel/ids.ts';

/** A client's own ids are honoured when they are short and plain; anything else gets a new one. */
export function requestIdFrom(headers: IncomingHttpHeaders): string {
  return plainId(headers['x-request-id']) ?? newRequestId();
}

export function correlationIdFrom(headers: IncomingHttpHeaders): string | undefined {
  return plainId(headers['x-correlation-id']);
}

function plainId(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' && REQUEST_ID_RE.test(value) ? value : undefined;
}
