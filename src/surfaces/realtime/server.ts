import type { FastifyInstance } from 'fastify';
import type { Server, Socket } from 'socket.io';
import type { App } from '../../app.ts';
import { EventFeed, type Published } from '../../flowcharts/index.ts';
import { NOBODY } from '../../identity/index.ts';
import { asFlowrightError, ERRORS, refusal } from '../../kernel/errors.ts';
import { newRequestId } from '../../kernel/ids.ts';
import { may, type Principal } from '../../operations/index.ts';
import { credentialsFrom } from '../http/credentials.ts';
import { createOriginGuard } from '../http/origin-guard.ts';
import { createAllowance } from './allowance.ts';
import { greet, NAMESPACE, serveConnection } from './connection.ts';
import type { Subscriber } from './subscriber.ts';

const MAX_MESSAGE_BYTES = 64 * 1_024;
const JOIN_WITHIN_MS = 10_000;
/** How soon a revoked token loses its connections. */
const RECHECK_MS = 1_000;
const MAX_CONNECTIONS = 5_000;
const FAILED_AUTH_PER_MINUTE = 60;
const MINUTE_MS = 60_000;

type Ask = () => Promise<Principal>;

/**
 * The realtime door: Socket.IO in the namespace /rt, behind the same guard and the same principals as HTTP. It tells
 * what the event feed tells, to those in the rooms concerned, and accepts nothing but subscriptions.
 */
export async function addRealtime(server: FastifyInstance, app: App): Promise<void> {
  const { Server: SocketServer } = await import('socket.io');
  const { config } = app.settings;
  const guard = createOriginGuard(config);
  const io = new SocketServer({
    path: '/socket.io',
    serveClient: false,
    maxHttpBufferSize: MAX_MESSAGE_BYTES,
    connectTimeout: JOIN_WITHIN_MS,
    ...(config.allowed_origins.length > 0 ? { cors: { origin: config.allowed_origins, credentials: true } } : {}),
    allowRequest: (request, decide) => {
      try {
        guard(request.headers);
        decide(null, io.engine.clientsCount < MAX_CONNECTIONS);
      } catch (thrown) {
        decide(asFlowrightError(thrown).code, false);
      }
    },
  });
  // The namespace that every Socket.IO server has: nobody has business there.
  io.use((_socket, next) => next(new Error('NOT_FOUND')));
  const { database, clock, log, runtime } = app.services;
  const audience = new Audience(new EventFeed({ database, clock, log, runtime }));
  const mayGuess = perAddress();
  const room = io.of(NAMESPACE);
  room.use((socket, next) => {
    const ask = () => authenticate(app, socket);
    ask().then(
      () => {
        socket.data.ask = ask;
        next();
      },
      (thrown) => void refuse(app, socket, thrown, mayGuess).then(next, next),
    );
  });
  room.on('connection', (socket) => {
    const connection = { app, socket, principal: socket.data.ask as Ask, isFollowing: () => following };
    const subscriber = serveConnection(connection);
    const following = audience.join(subscriber);
    socket.on('disconnect', () => audience.leave(subscriber));
    following.then(
      () => greet(app, socket),
      (error) => {
        log.error({ cause: error }, 'events cannot be followed');
        socket.disconnect(true);
      },
    );
  });

  const recheck = setInterval(() => void dropTheRevoked(room.sockets.values()), RECHECK_MS);
  recheck.unref();
  io.attach(server.server);
  server.addHook('preClose', async () => {
    clearInterval(recheck);
    audience.close();
    await closeQuietly(io);
  });
}

/** Who listens. The feed runs while there is anybody. */
class Audience {
  readonly #subscribers = new Set<Subscriber>();
  readonly #feed: EventFeed;
  #listening: Promise<() => void> | undefined;

  constructor(feed: EventFeed) {
    this.#feed = feed;
  }

  async join(subscriber: Subscriber): Promise<void> {
    this.#subscribers.add(subscriber);
    this.#listening ??= this.#feed.listen((published) => this.#tell(published));
    try {
      await this.#listening;
    } catch (error) {
      this.#listening = undefined;
      throw error;
    }
  }

  leave(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size > 0) return;
    void this.#listening?.then(
      (stop) => stop(),
      () => {},
    );
    this.#listening = undefined;
  }

  close(): void {
    this.#subscribers.clear();
    this.#feed.close();
  }

  #tell(published: Published): void {
    for (const subscriber of this.#subscribers) subscriber.receive(published);
  }
}

/** A token in the handshake, or the session cookie of the studio; the vault is the named one, else the token's own. */
async function authenticate(app: App, socket: Socket): Promise<Principal> {
  const { token, vault_id } = socket.handshake.auth as { token?: unknown; vault_id?: unknown };
  const { headers } = socket.handshake;
  const credentials =
    typeof token === 'string' && token !== ''
      ? ({ secret: token, purpose: 'bearer' } as const)
      : credentialsFrom(headers);
  if (!credentials) throw refusal('UNAUTHORIZED', `This needs a bearer token. ${ERRORS.UNAUTHORIZED.next}`);
  const named = vault_id ?? headers['x-vault-id'];
  const vaultId = typeof named === 'string' && named !== '' ? named : undefined;
  const principal = await app.principals.fromSecret(credentials.secret, credentials.purpose, vaultId, false);
  if (!may(principal, 'read')) throw refusal('FORBIDDEN', 'Your role may not read here.');
  return principal;
}

async function refuse(
  app: App,
  socket: Socket,
  thrown: unknown,
  mayGuess: (address: string) => boolean,
): Promise<Error> {
  const error = asFlowrightError(thrown);
  const isPatient = mayGuess(socket.handshake.address);
  const told = isPatient ? error : refusal('RATE_LIMIT', 'Too many wrong tokens. Try again in a minute.');
  if (isPatient && error.status < 500) {
    const call = { principal: NOBODY, door: 'http', request_id: newRequestId(), correlation_id: undefined } as const;
    await app.services.auditLog.refused(call, 'authenticate', error);
  }
  return Object.assign(new Error(told.message), { data: { code: told.code, message: told.message } });
}

async function dropTheRevoked(sockets: Iterable<Socket>): Promise<void> {
  for (const socket of [...sockets]) {
    try {
      await (socket.data.ask as Ask)();
    } catch (thrown) {
      // A database that does not answer for a moment is no reason to send everybody away.
      const { code, status, message } = asFlowrightError(thrown);
      if (status >= 500) continue;
      socket.emit('rt.error', { code, message });
      socket.disconnect(true);
    }
  }
}

function perAddress(): (address: string) => boolean {
  const allowances = new Map<string, () => boolean>();
  return (address) => {
    if (allowances.size > MAX_CONNECTIONS) allowances.clear();
    const allowance = allowances.get(address) ?? createAllowance(FAILED_AUTH_PER_MINUTE, MINUTE_MS);
    allowances.set(address, allowance);
    return allowance();
  };
}

/** Ends the connections without closing the HTTP server, whose business that is. */
async function closeQuietly(io: Server): Promise<void> {
  io.of(NAMESPACE).disconnectSockets(true);
  io.engine.close();
}
