import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import type { App } from '../../src/app.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { AnyOperation, Role, Scope } from '../../src/operations/index.ts';
import { createHttpServer } from '../../src/surfaces/http/server.ts';
import { openTestApp } from './app.ts';
import type { TestStore } from './databases.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape; tests look into them
export type Body = any;

export interface Reply {
  status: number;
  body: Body;
  headers: Record<string, unknown>;
}

/** Somebody who asks the hub over its REST door. */
export interface Asker {
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  put(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
}

export interface Membership {
  role: Role;
  vault?: string;
  agent?: boolean;
  scopes?: Scope[];
  ambiguous?: boolean;
}

/** The hub's own server without a socket and without a process: routes, tokens and database are the real ones. */
export interface InProcessHub {
  app: App;
  /** The owner of the hub, a person. */
  owner: Asker;
  /** Makes the user a member and asks with a new token of theirs. */
  asker(user: string, membership: Membership): Promise<Asker>;
  close(): Promise<void>;
}

export async function openInProcessHub(
  store: TestStore,
  options: { env?: Record<string, string>; clock?: Clock } = {},
): Promise<InProcessHub> {
  const app = await openTestApp(store, options);
  const server = await createHttpServer(app);
  const byName = new Map((await app.catalogue.all()).map((operation) => [operation.name, operation]));
  const administer = async (name: string, input: Record<string, unknown>, vaultId = 'default'): Promise<Body> => {
    const principal = await app.principals.local({ identity: 'local', vaultId, narrowTo: null, agent: false });
    const call = { principal, door: 'cli', request_id: 'test', correlation_id: undefined } as const;
    return app.invoke(byName.get(name) as AnyOperation, call, input);
  };
  const tokenOf = async (user: string, { role, vault, agent }: Partial<Membership>): Promise<string> =>
    (await administer('token.create', { user, ...(role ? { role } : {}), agent: agent === true }, vault)).token;
  return {
    app,
    owner: askerOf(server, await tokenOf('local', {})),
    asker: async (user, membership) => {
      const { role, scopes, ambiguous, vault } = membership;
      await administer(
        'member.set',
        { user, role, ...(scopes ? { scopes } : {}), ambiguous: ambiguous === true },
        vault,
      );
      return askerOf(server, await tokenOf(user, { ...membership }));
    },
    close: async () => {
      await server.close();
      await app.close();
    },
  };
}

function askerOf(server: FastifyInstance, token: string): Asker {
  const ask = async (method: string, url: string, body: unknown, more: Record<string, string> = {}) => {
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, host: '127.0.0.1', ...more };
    const payload = body === undefined ? undefined : JSON.stringify(body);
    if (payload !== undefined) headers['content-type'] = 'application/json';
    const response = await server.inject({
      method: method as 'GET',
      url,
      headers,
      ...(payload === undefined ? {} : { payload }),
    });
    return { status: response.statusCode, body: JSON.parse(response.body) as Body, headers: response.headers };
  };
  return {
    get: (path, headers) => ask('GET', path, undefined, headers),
    post: (path, body = {}, headers) => ask('POST', path, body, headers),
    put: (path, body, headers) => ask('PUT', path, body, headers),
    send: ask,
  };
}

/** The payload of an answer that must be a success. */
export async function done(answer: Promise<Reply>): Promise<Body> {
  const { status, body } = await answer;
  expect(status, JSON.stringify(body).slice(0, 600)).toBeLessThan(300);
  return body;
}

/** `code` of an answer, or its status where it succeeded. */
export async function outcome(answer: Promise<Reply>): Promise<string> {
  const { status, body } = await answer;
  return status < 300 ? String(status) : body.code;
}
