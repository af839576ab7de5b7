import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../app.ts';
import { NOBODY } from '../../identity/index.ts';
import { asFlowrightError, ERRORS, type FlowrightError, refusal } from '../../kernel/errors.ts';
import type { Ready } from '../../kernel/ready.ts';
import type { Principal } from '../../operations/index.ts';
import { credentialsFrom } from './credentials.ts';

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

/** Everything that is not marked public needs a principal; one hook at the root, so that no route can forget it. */
export function addAuthentication(server: FastifyInstance, app: App): void {
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

export function tooMany(after: string): FlowrightError {
  return refusal('RATE_LIMIT', `Too many requests. Try again in ${after}.`);
}
