import cors from '@fastify/cors';
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { App } from '../../app.ts';
import { NOBODY } from '../../identity/index.ts';
import { asFlowrightError, ERRORS, FlowrightError, refusal } from '../../kernel/errors.ts';
import type { Ready } from '../../kernel/ready.ts';
import { errorEnvelope, type Principal, toJson } from '../../operations/index.ts';
import { credentialsFrom } from './credentials.ts';
import { parseJsonBody } from './json-body.ts';
import { addMcpRoute } from './mcp-route.ts';
import { addOperationRoutes } from './operation-routes.ts';
import { createOriginGuard } from './origin-guard.ts';
import { addPages } from './pages.ts';
import { correlationIdFrom, requestIdFrom } from './request-ids.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

const REQUEST_TIMEOUT_MS = 60_000;
const MAX_PARAMETER = 1_024;
/** Wrong tokens from one address in a minute, before it has to wait. */
const FAILED_AUTH_PER_MINUTE = 60;

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal;
    correlationId: string | undefined;
    /** What the rate limit counts: a subject on a route. */
    bucket: string;
  }
  interface FastifyContextConfig {
    /** Reachable without a token. Everything else is not. */
    public?: boolean;
    /** The caller acts as an agent, whoever the token belongs to. */
    agent?: boolean;
  }
}

/** The HTTP door: authenticate, parse, call, print. */
export async function createHttpServer(app: App): Promise<FastifyInstance> {
  const { config } = app.settings;
  const guard = createOriginGuard(config);
  const server = Fastify({
    logger: false,
    bodyLimit: config.body_limit_bytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    genReqId: (request) => requestIdFrom(request.headers),
    rewriteUrl: (request) => canonicalUrl(request.url ?? '/'),
    routerOptions: { maxParamLength: MAX_PARAMETER },
    // An address that cannot be read never reaches a hook; the guard looks at it here.
    frameworkErrors: (error, request, reply) =>
      void sendError(app, refusalOf(() => guard(request.headers)) ?? error, request, reply as FastifyReply),
    clientErrorHandler: answerBrokenRequest,
    // A request without Host reaches our own guard, which refuses it with a code.
    http: { requireHostHeader: false },
  });
  server.decorateRequest('principal');
  server.decorateRequest('correlationId');
  server.decorateRequest('bucket', '');
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseJsonBody);

  server.setErrorHandler((error: FastifyError, request, reply) => sendError(app, error, request, reply));
  server.setNotFoundHandler((request) => {
    throw refusal('NOT_FOUND', `There is nothing at ${request.method} ${request.url.split('?')[0]?.slice(0, 200)}.`);
  });

  server.addHook('onRequest', (request, reply, done) => {
    request.principal = NOBODY;
    request.correlationId = correlationIdFrom(request.headers);
    reply.headers(SECURITY_HEADERS);
    reply.header('x-request-id', request.id);
    if (request.correlationId) reply.header('x-correlation-id', request.correlationId);
    guard(request.headers);
    done();
  });
  if (config.allowed_origins.length > 0) {
    await server.register(cors, { origin: config.allowed_origins, credentials: true, maxAge: 600 });
  }
  await server.register(rateLimit, {
    max: config.rate_limit_per_minute,
    timeWindow: 60_000,
    // Runs after authentication, which knows the subject, and before the body is read.
    hook: 'onRequest',
    keyGenerator: (request) => request.bucket,
    errorResponseBuilder: (_request, context) => tooMany(context.after),
  });
  addAuthentication(server, app);

  await addOperationRoutes(server, app);
  await addMcpRoute(server, app);
  await addPages(server, app);
  return server;
}

/** Everything that is not marked public needs a principal; one hook at the root, so that no route can forget it. */
function addAuthentication(server: FastifyInstance, app: App): void {
  const perAddress = (what: string, max: number) =>
    server.createRateLimit({ max, timeWindow: 60_000, keyGenerator: (request) => `${what} ${request.ip}` });
  const countGuess = perAddress('guess', FAILED_AUTH_PER_MINUTE);
  const countStray = perAddress('stray', app.settings.config.rate_limit_per_minute);

  const refuse = async (thrown: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FlowrightError> => {
    const error = asFlowrightError(thrown);
    if (error.status >= 500) return error;
    const isGuess = error.code === 'UNAUTHORIZED';
    if (isGuess) reply.header('www-authenticate', 'Bearer');
    const limit = await (isGuess ? countGuess(request) : countStray(request));
    if (!limit.isAllowed && limit.isExceeded) {
      reply.header('retry-after', limit.ttlInSeconds);
      return tooMany(`${limit.ttlInSeconds} seconds`);
    }
    const call = { principal: NOBODY, door: 'http', request_id: request.id, correlation_id: undefined } as const;
    await app.services.auditLog.refused(call, 'authenticate', error);
    return error;
  };

  server.addHook('onRequest', (request, reply, done) => {
    const { config } = request.routeOptions;
    const route = `${config.method?.toString()} ${config.url}`;
    request.bucket = `${request.ip} ${route}`;
    if (config.public || (request.is404 && !/^\/(api|mcp)\b/.test(request.url))) {
      done();
      return;
    }
    const accept = (principal: Principal): void => {
      request.principal = principal;
      request.bucket = `${principal.user_id}@${principal.vault_id} ${route}`;
      done();
    };
    const reject = (thrown: unknown): void => void refuse(thrown, request, reply).then(done, done);
    let principal: Ready<Principal>;
    try {
      principal = authenticate(app, request.headers, config.agent === true);
    } catch (thrown) {
      reject(thrown);
      return;
    }
    if (principal instanceof Promise) principal.then(accept, reject);
    else accept(principal);
  });
}

function authenticate(app: App, headers: FastifyRequest['headers'], agent: boolean): Ready<Principal> {
  const credentials = credentialsFrom(headers);
  if (!credentials) throw refusal('UNAUTHORIZED', `This needs a bearer token. ${ERRORS.UNAUTHORIZED.next}`);
  const vault = headers['x-vault-id'];
  const vaultId = typeof vault === 'string' && vault !== '' ? vault : undefined;
  return app.principals.fromSecret(credentials.secret, credentials.purpose, vaultId, agent);
}

function refusalOf(check: () => void): unknown {
  try {
    check();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

function tooMany(after: string): FlowrightError {
  return refusal('RATE_LIMIT', `Too many requests. Try again in ${after}.`);
}

/** `/api/X` and `/health` are older names of `/api/v1/X`. */
function canonicalUrl(url: string): string {
  if (url === '/health' || url.startsWith('/health?') || /^\/sessions(?=[/?]|$)/.test(url)) return `/api/v1${url}`;
  return /^\/api\/(?!v1(?=[/?]|$))/.test(url) ? `/api/v1${url.slice('/api'.length)}` : url;
}

function sendError(app: App, thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
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
function answerBrokenRequest(
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
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${body}`);
}
