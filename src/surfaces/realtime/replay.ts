import { type Database, readEvents } from '../../database/index.ts';
import { hydrateEvents, type Published } from '../../flowcharts/index.ts';
import { type Clock, isoNow } from '../../kernel/clock.ts';
import { isRoomOf, parseRoom } from './rooms.ts';
import type { Subscriber } from './subscriber.ts';

const PAGE = 200;

/** Sends what a stream has told since the given sequence; what is already gone is said instead. */
export async function replayStream(
  { database, clock }: { database: Database; clock: Clock },
  subscriber: Subscriber,
  stream: string,
  after: number,
  vaultId: string,
): Promise<boolean> {
  const run = parseRoom(stream);
  if (run?.kind !== 'flowchart_run' || !(await isRoomOf(database.queries, run, vaultId))) return false;
  let place = after;
  for (let isFirst = true; ; isFirst = false) {
    const page = await readEvents(database.queries, stream, place, PAGE);
    if (isFirst) subscriber.setPlace(stream, Math.min(after, page.last_sequence));
    if (page.replay_gap) {
      const { last_sequence } = page;
      subscriber.tell('rt.replay_gap', { stream, after: place, last_sequence, event_type: 'rt.replay_gap' });
    }
    for (const published of await hydrated(database, clock, page.events)) subscriber.replay(published);
    const last = page.events.at(-1);
    if (!last || page.events.length < PAGE) return true;
    place = last.sequence;
  }
}

function hydrated(database: Database, clock: Clock, events: Parameters<typeof hydrateEvents>[1]): Promise<Published[]> {
  return hydrateEvents(database.queries, events, isoNow(clock));
}
