import type { Socket } from 'socket.io';
import type { App } from '../../app.ts';
import type { Principal } from '../../operations/index.ts';
import { createAllowance } from './allowance.ts';
import { replayStream } from './replay.ts';
import { parseRoomRequest, type Refused } from './request.ts';
import { isRoomOf } from './rooms.ts';
import { Subscriber } from './subscriber.ts';

export const NAMESPACE = '/rt';
const MAX_ROOMS = 500;
const MAX_PLACES = 1_000;
const MESSAGES = 100;
const WINDOW_MS = 10_000;

type Acknowledge = (answer: Record<string, unknown>) => void;

export interface Connection {
  app: App;
  socket: Socket;
  /** Who it acts for, asked anew each time. */
  principal(): Promise<Principal>;
  /** Resolves once no event can be missed any more: only then is it known where a replay must end. */
  isFollowing(): Promise<void>;
}

/** Answers the messages of one client, one after the other. */
export function serveConnection({ app, socket, principal, isFollowing }: Connection): Subscriber {
  const { database, clock } = app.services;
  const serverTime = () => clock.now().toISOString();
  const subscriber = new Subscriber({
    emit: (event, payload) => void socket.emit(event, payload),
    backlog: () => (socket.conn as unknown as { writeBuffer?: unknown[] }).writeBuffer?.length ?? 0,
    drop: (reason) => {
      socket.emit('rt.error', { code: 'RATE_LIMIT', reason });
      socket.disconnect(true);
    },
  });

  const subscribe = async (message: unknown): Promise<Record<string, unknown>> => {
    const request = parseRoomRequest(message);
    if (!request) return badMessage('rooms must be a list of room names; after a sequence, or {stream: sequence}');
    const { vault_id } = await principal();
    await isFollowing();
    const refused: Refused[] = [...request.refused];
    await subscriber.whileHolding(async () => {
      for (const room of request.rooms) {
        if (subscriber.rooms.size >= MAX_ROOMS && !subscriber.rooms.has(room.name)) {
          refused.push({ room: room.name, code: 'RATE_LIMIT' });
        } else if (await isRoomOf(database.queries, room, vault_id)) {
          subscriber.rooms.add(room.name);
        } else {
          refused.push({ room: room.name, code: 'NOT_FOUND' });
        }
      }
      for (const [stream, after] of request.after) {
        if (refused.some(({ room }) => room === stream)) continue;
        const isKnown =
          subscriber.places < MAX_PLACES &&
          (await replayStream({ database, clock }, subscriber, stream, after, vault_id));
        if (!isKnown) refused.push({ room: stream.slice(0, 100), code: 'NOT_FOUND' });
      }
    });
    return answer(refused);
  };

  const unsubscribe = async (message: unknown): Promise<Record<string, unknown>> => {
    const request = parseRoomRequest(message);
    if (!request) return badMessage('rooms must be a list of room names');
    for (const { name } of request.rooms) subscriber.rooms.delete(name);
    return answer(request.refused);
  };

  const health = async (message: unknown): Promise<Record<string, unknown>> => ({
    ok: true,
    namespace: NAMESPACE,
    server_time: serverTime(),
    sid: socket.id,
    rooms: [...subscriber.rooms].sort(),
    echo: message ?? null,
  });

  const answer = (refused: readonly Refused[]) => ({
    ok: refused.length === 0,
    rooms: [...subscriber.rooms].sort(),
    refused,
    namespace: NAMESPACE,
    server_time: serverTime(),
  });

  const mayAsk = createAllowance(MESSAGES, WINDOW_MS);
  let turn: Promise<void> = Promise.resolve();
  const serve = (name: string, work: (message: unknown) => Promise<Record<string, unknown>>): void => {
    socket.on(name, (...given: unknown[]) => {
      const acknowledge = acknowledgeOf(given);
      if (!mayAsk()) {
        acknowledge({ ok: false, code: 'RATE_LIMIT', message: 'Too many messages. Wait a few seconds.' });
        return;
      }
      const message = typeof given[0] === 'function' ? undefined : given[0];
      // One at a time: a second subscription must not overtake the replay of the first.
      turn = turn.then(async () => {
        if (!socket.connected) return;
        try {
          acknowledge(await work(message));
        } catch (error) {
          app.services.log.error({ cause: error }, 'a realtime message failed');
          acknowledge({ ok: false, code: 'INTERNAL_ERROR', message: 'Something went wrong on our side. Try again.' });
        }
      });
    });
  };
  serve('rt.subscribe', subscribe);
  serve('rt.unsubscribe', unsubscribe);
  serve('rt.health', health);
  return subscriber;
}

export function greet(app: App, socket: Socket): void {
  socket.emit('rt.connected', {
    ok: true,
    namespace: NAMESPACE,
    sid: socket.id,
    server_time: app.services.clock.now().toISOString(),
    transport: socket.conn.transport.name,
  });
}

function badMessage(message: string): Record<string, unknown> {
  return { ok: false, code: 'BAD_REQUEST', message };
}

function acknowledgeOf(given: readonly unknown[]): Acknowledge {
  const last = given.at(-1);
  return typeof last === 'function' ? (last as Acknowledge) : () => {};
}
