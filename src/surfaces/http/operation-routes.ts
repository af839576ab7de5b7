import type { FastifyInstance, FastifyRequest, HTTPMethods } from 'fastify';
import type { App } from '../../app.ts';
import { badRequest, type Issue, refusal } from '../../kernel/errors.ts';
import { whenReady } from '../../kernel/ready.ts';
import {
  type AnyOperation,
  decodeText,
  type HttpRoute,
  jsonPointer,
  routesOf,
  toJsonBytes,
} from '../../operations/index.ts';
import { fileHeaders, wantsFile } from './file-answer.ts';

const METHODS: HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const JSON_TYPE = 'application/json; charset=utf-8';

/** One route for each operation, and a clear refusal for the methods a path does not have. */
export async function addOperationRoutes(server: FastifyInstance, app: App): Promise<void> {
  const methodsOf = new Map<string, string[]>();
  for (const operation of await app.catalogue.all()) {
    for (const route of routesOf(operation)) {
      const url = fastifyPath(route.path);
      methodsOf.set(url, [...(methodsOf.get(url) ?? []), route.method]);
      addRoute(server, app, operation, route, url);
    }
  }
  for (const [url, methods] of methodsOf) {
    const others = METHODS.filter((method) => !methods.includes(method as string));
    const allow = methods.join(', ');
    server.route({
      method: others,
      url,
      config: { public: true },
      handler: (_request, reply) => {
        reply.header('allow', allow);
        throw refusal('METHOD_NOT_ALLOWED', `This path takes ${allow}.`);
      },
    });
  }
}

function addRoute(server: FastifyInstance, app: App, operation: AnyOperation, route: HttpRoute, url: string): void {
  const status = route.status ?? 200;
  const { config } = app.settings;
  const bodyLimit = Math.max(route.bodyLimit?.(config) ?? 0, config.body_limit_bytes);
  server.route({
    method: route.method,
    url,
    config: { public: 'public' in operation.access },
    bodyLimit,
    handler: (request, reply) => {
      const send = (payload: unknown) => {
        const etag = route.etag?.(payload as never);
        if (etag) reply.header('etag', `"${etag}"`);
        if (route.raw && wantsFile(request)) {
          const file = route.raw(payload as never);
          return reply.code(status).headers(fileHeaders(file)).send(file.body);
        }
        return reply
          .code(status)
          .header('cache-control', 'no-store')
          .header('content-type', JSON_TYPE)
          .send(toJsonBytes(payload));
      };
      const input = () => inputOf(request, operation, route);
      return whenReady(app.invoke(operation, callOf(request), input), send);
    },
  });
}

function callOf(request: FastifyRequest) {
  return {
    principal: request.principal,
    door: 'http' as const,
    request_id: request.id,
    correlation_id: request.correlationId,
  };
}

/** Path and query are text, a body is JSON; together they are the operation's input. */
function inputOf(request: FastifyRequest, operation: AnyOperation, route: HttpRoute): unknown {
  const path = pathInput(request.params as Record<string, string>, operation, route);
  const query = request.query as Record<string, unknown>;
  const given = Object.keys(query);
  if (route.method === 'GET' || route.method === 'DELETE') {
    if (request.body !== undefined && request.body !== null) {
      const issue = { code: 'unknown_key', message: `${route.method} takes no body`, path: '' };
      throw badRequest([issue], operation.name);
    }
    if (given.length === 0) return path;
    assertNoOverlap(path, query);
    return Object.assign(decodeText(operation.input, query), path);
  }
  if (given.length > 0) throw badRequest(given.map(unknownParameter), operation.name);
  const body = request.body ?? {};
  if (typeof body !== 'object' || Array.isArray(body)) return body;
  assertNoOverlap(path, body as Record<string, unknown>);
  return Object.assign(body, path, idempotencyKey(request, operation, body as Record<string, unknown>));
}

/** May also come as a header, for operations that take one. */
function idempotencyKey({ headers }: FastifyRequest, { input }: AnyOperation, body: Record<string, unknown>) {
  const key = headers['idempotency-key'] ?? headers['x-idempotency-key'];
  const isWanted =
    key !== undefined && Object.hasOwn(input.shape, 'idempotency_key') && body.idempotency_key === undefined;
  return isWanted ? { idempotency_key: key } : {};
}

function pathInput(params: Record<string, string>, operation: AnyOperation, route: HttpRoute): Record<string, unknown> {
  if (!route.rename) return decodeText(operation.input, params);
  const texts: Record<string, unknown> = {};
  for (const parameter in params) texts[route.rename[parameter] ?? parameter] = params[parameter];
  return decodeText(operation.input, texts);
}

/** What the path says cannot be said again elsewhere, where it might say something else. */
function assertNoOverlap(path: Record<string, unknown>, rest: Record<string, unknown>): void {
  const repeated = Object.keys(path).filter((key) => Object.hasOwn(rest, key));
  if (repeated.length > 0) throw badRequest(repeated.map(unknownParameter));
}

function unknownParameter(name: string): Issue {
  return { code: 'unknown_key', message: 'is not a known parameter here', path: jsonPointer([name]) };
}

function fastifyPath(path: string): string {
  return path.replace(/\{([^}]+)\}/g, ':$1');
}
