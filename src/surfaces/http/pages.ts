import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../app.ts';
import { NOBODY, redeemSigninCode, SESSION_SECONDS } from '../../identity/index.ts';
import { asFlowrightError } from '../../kernel/errors.ts';
import { actorHash, type Principal } from '../../operations/index.ts';
import { credentialsFrom, SESSION_COOKIE } from './credentials.ts';
import { homePage, messagePage } from './home-page.ts';
import { openApiDocument } from './openapi.ts';

/** What is not an operation: the sign-in link, the front page, the API description. The explicit public list. */
export async function addPages(server: FastifyInstance, app: App): Promise<void> {
  const config = { public: true };
  const operations = await app.catalogue.all();
  // Written when it is first asked for: a hub starts sooner without it.
  let document: string | undefined;
  server.get('/api/v1/openapi.json', { config }, (_request, reply) => {
    document ??= JSON.stringify(openApiDocument(operations));
    return reply.type('application/json; charset=utf-8').send(document);
  });
  // Without HEAD, which a link preview sends: only opening the link uses it up.
  server.get('/signin', { config, exposeHeadRoute: false }, (request, reply) => signIn(app, request, reply));
  server.get('/', { config }, (request, reply) => front(app, request, reply));
}

async function signIn(app: App, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { code } = request.query as { code?: unknown };
  const { database, clock, auditLog } = app.services;
  const call = { principal: NOBODY, door: 'http', request_id: request.id, correlation_id: undefined } as const;
  try {
    const secret = await redeemSigninCode(database, clock, typeof code === 'string' ? code : '', (trx, owner) => {
      const principal: Principal = { ...NOBODY, ...owner, actor_hash: actorHash(owner.user_id, owner.vault_id) };
      return auditLog.done(trx, { ...call, principal }, 'signin', {});
    });
    // Lax, not Strict: the link may be clicked in a terminal that is itself a web page. Nothing changes by GET.
    reply.header(
      'set-cookie',
      `${SESSION_COOKIE}=${secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${SESSION_SECONDS}`,
    );
    return reply.header('cache-control', 'no-store').redirect('/', 303);
  } catch (thrown) {
    const error = asFlowrightError(thrown);
    if (error.code !== 'UNAUTHORIZED') throw error;
    await auditLog.refused(call, 'signin', error);
    return html(reply, 401, messagePage('This link does not work any more', error.message));
  }
}

async function front(app: App, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const principal = await sessionOf(app, request);
  if (!principal) {
    const hint = 'Run `flowright signin` in the terminal of this machine and open the link it prints.';
    return html(reply, 200, messagePage('Flowright is running', hint));
  }
  return html(reply, 200, homePage(principal, await app.services.flows.list(principal, {})));
}

async function sessionOf(app: App, request: FastifyRequest): Promise<Principal | null> {
  const credentials = credentialsFrom(request.headers);
  if (credentials?.purpose !== 'session') return null;
  try {
    return await app.principals.fromSecret(credentials.secret, 'session', undefined, false);
  } catch {
    return null;
  }
}

function html(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.code(status).header('cache-control', 'no-store').type('text/html; charset=utf-8').send(page);
}
