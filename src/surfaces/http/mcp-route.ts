import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { App } from '../../app.ts';
import type { Principal } from '../../operations/index.ts';
import { createMcpServer } from '../mcp/server.ts';
import { operationTools } from '../mcp/tools.ts';
import { credentialsFrom } from './credentials.ts';

/** Streamable HTTP at /mcp, for clients of the current protocol and of the one before. Every caller is an agent. */
export async function addMcpRoute(server: FastifyInstance, app: App): Promise<void> {
  const tools = operationTools(await app.catalogue.all());
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const resolve = authInfo?.extra?.resolve as (vaultId: string | undefined) => Promise<Principal>;
      return createMcpServer(app, tools, resolve);
    },
    { onerror: (error) => app.services.log.warn({ reason: error.message }, 'an MCP request was refused') },
  );
  server.addHook('onClose', () => handler.close());
  server.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    config: { agent: true },
    handler: async (request, reply) => {
      const { method, url } = request;
      const init: RequestInit = { method, headers: plainHeaders(request) };
      const web = new Request(new URL(url, `http://${request.headers.host}`), init);
      const response = await handler.fetch(web, {
        ...(request.body === undefined ? {} : { parsedBody: request.body }),
        authInfo: {
          token: '',
          clientId: request.principal.user_id,
          scopes: [],
          extra: { resolve: resolver(app, request) },
        },
      });
      reply.code(response.status);
      for (const [name, value] of response.headers) reply.header(name, value);
      return response.body ? reply.send(Readable.fromWeb(response.body as ReadableStream)) : reply.send();
    },
  });
}

/** The caller's principal; a vault named in the call is checked like one named in the header. */
function resolver(app: App, request: FastifyRequest): (vaultId: string | undefined) => Promise<Principal> {
  return async (vaultId) => {
    const credentials = credentialsFrom(request.headers);
    if (vaultId === undefined || !credentials) return request.principal;
    return app.principals.fromSecret(credentials.secret, credentials.purpose, vaultId, true);
  };
}

function plainHeaders(request: FastifyRequest): Record<string, string> {
  const entries = Object.entries(request.headers).filter(([name]) => name !== 'authorization' && name !== 'cookie');
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}
