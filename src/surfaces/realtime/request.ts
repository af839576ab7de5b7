import * as z from 'zod';
import { parseRoom, type Room } from './rooms.ts';

const MAX_ROOMS_IN_A_MESSAGE = 200;
const Sequence = z.int().min(0);

const Subscribe = z.object({
  rooms: z.array(z.unknown()).max(MAX_ROOMS_IN_A_MESSAGE),
  after: z.union([Sequence, z.record(z.string().max(64), Sequence)]).optional(),
});

export interface Refused {
  room: string;
  code: 'BAD_REQUEST' | 'NOT_FOUND' | 'RATE_LIMIT';
}

export interface RoomRequest {
  rooms: Room[];
  refused: Refused[];
  /** Streams to replay, each with the sequence after which. */
  after: Map<string, number>;
}

/** What a client asked for; null when it is no request at all. */
export function parseRoomRequest(message: unknown): RoomRequest | null {
  const parsed = Subscribe.safeParse(message);
  if (!parsed.success) return null;
  const rooms = new Map<string, Room>();
  const refused: Refused[] = [];
  for (const name of parsed.data.rooms) {
    const room = parseRoom(name);
    if (room) rooms.set(room.name, room);
    else refused.push({ room: String(name).slice(0, 100), code: 'BAD_REQUEST' });
  }
  return { rooms: [...rooms.values()], refused, after: replays(parsed.data.after, [...rooms.values()]) };
}

/** A number is meant for the runs among the rooms; an object names its streams. */
function replays(after: z.output<typeof Subscribe>['after'], rooms: readonly Room[]): Map<string, number> {
  if (after === undefined) return new Map();
  if (typeof after !== 'number') return new Map(Object.entries(after));
  return new Map(rooms.filter(({ kind }) => kind === 'flowchart_run').map(({ name }) => [name, after]));
}
