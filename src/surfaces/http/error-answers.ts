import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../app.ts';
import { asFlowrightError, ERRORS, FlowrightError, refusal } from '../../kernel/errors.ts';
import { errorEnvelope, toJson } from '../../operations/index.ts';
import { requestIdFrom } from './request-ids.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

const LINGER_MS = 1_000;

/** Answers with the envelope; what is our fault is logged with its cause, and only there. */
export function sendError(app: App, thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = fromFramework(thrown);
  if (error.code === 'INTERNAL_ERROR') {
    app.services.log.error({ request_id: request.id, cause: error.cause }, 'a request failed');
  }
  const ids = { request_id: request.id, correlation_id: request.correlationId };
  return reply
    .code(error.status)
    .headers(SECURITY_HEADERS)
    .header('x-request-id', request.id)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(toJson(errorEnvelope(error, ids)));
}

/** Fastify's own refusals in our words. */
function fromFramework(thrown: unknown): FlowrightError {
  if (thrown instanceof FlowrightError) return thrown;
  const status = (thrown as FastifyError).statusCode ?? 500;
  if (status === 413) return refusal('PAYLOAD_TOO_LARGE', `The body is too large. ${ERRORS.PAYLOAD_TOO_LARGE.next}`);
  if (status === 415) {
    return refusal('UNSUPPORTED_MEDIA_TYPE', `The body must be JSON. ${ERRORS.UNSUPPORTED_MEDIA_TYPE.next}`);
  }
  if (status >= 400 && status < 500) {
    return refusal('BAD_REQUEST', 'The request cannot be read: check its address, headers and body.');
  }
  return asFlowrightError(thrown);
}

/** What is not HTTP at all, or not within its bounds, never becomes a request; it still gets a coded answer. */
export function answerBrokenRequest(
  error: Error & { code?: string },
  socket: { writable: boolean; end(text: string): void; destroy(): void },
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refused = refusal('BAD_REQUEST', 'The request cannot be read: it is malformed or its headers are too large.');
  const request_id = requestIdFrom({});
  const body = toJson(errorEnvelope(refused, { request_id }));
  const headers = {
    ...SECURITY_HEADERS,
    'x-request-id': request_id,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  // A client that never closes its side must not keep the socket.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${body}`);
}
