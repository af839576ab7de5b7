import cors from '@fastify/cors';
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { App } from '../../app.ts';
import { NOBODY } from '../../identity/index.ts';
import { refusal } from '../../kernel/errors.ts';
import { addRealtime } from '../realtime/server.ts';
import { addAuthentication, tooMany } from './authentication.ts';
import { answerBrokenRequest, sendError } from './error-answers.ts';
import { parseJsonBody } from './json-body.ts';
import { addMcpRoute } from './mcp-route.ts';
import { addOperationRoutes } from './operation-routes.ts';
import { createOriginGuard } from './origin-guard.ts';
import { addPages } from './pages.ts';
import { correlationIdFrom, requestIdFrom } from './request-ids.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

const REQUEST_TIMEOUT_MS = 60_000;
const MAX_PARAMETER = 1_024;

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

  server.setErrorHandler((error, request, reply) => sendError(app, error, request, reply));
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
  await addRealtime(server, app);
  return server;
}

function refusalOf(check: () => void): unknown {
  try {
    check();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

/** `/api/X` and `/health` are older names of `/api/v1/X`. */
function canonicalUrl(url: string): string {
  if (url === '/health' || url.startsWith('/health?') || /^\/sessions(?=[/?]|$)/.test(url)) return `/api/v1${url}`;
  return /^\/api\/(?!v1(?=[/?]|$))/.test(url) ? `/api/v1${url.slice('/api'.length)}` : url;
}
