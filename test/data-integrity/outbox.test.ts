import { expect, it } from 'vitest';
import { appendEvent, pruneEvents, readEvents } from '../../src/database/index.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { onEachDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { addFlows, useLibrary, useStore } from './library.ts';

const at = (hour: number): Clock => ({ now: () => new Date(Date.UTC(2026, 0, 1, hour)) });
const event = (stream: string, n: number) => ({ stream, type: 'test.happened', payload: { n, text: 'é\u0000\ud800' } });

onEachDatabase((_engine, makeStore) => {
  it('[FLR-outbox-sequence] sequences of a stream count from one, whatever other streams do', async () => {
    const database = await (await useStore(makeStore)).open();
    for (let n = 1; n <= 5; n += 1) {
      const given = await database.transaction(async (trx) => [
        await appendEvent(trx, at(n), event('a', n)),
        await appendEvent(trx, at(n), event('b', n)),
        await appendEvent(trx, at(n), event('a', n)),
      ]);
      expect(given).toEqual([2 * n - 1, n, 2 * n]);
    }
    const page = await readEvents(database.queries, 'a', 0, 100);
    expect(page.events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect([page.last_sequence, page.replay_gap]).toEqual([10, false]);
    expect(page.events[3]?.payload).toEqual({ n: 2, text: 'é\u0000\ud800' });
    expect(new Set(page.events.map(({ event_id }) => event_id)).size).toBe(10);
  });

  it('[FLR-outbox-sequence] a transaction that fails leaves no event and no gap', async () => {
    const database = await (await useStore(makeStore)).open();
    await database.transaction((trx) => appendEvent(trx, at(1), event('a', 1)));
    const fails = database.transaction(async (trx) => {
      expect(await appendEvent(trx, at(1), event('a', 2))).toBe(2);
      expect(await appendEvent(trx, at(1), event('never', 1))).toBe(1);
      throw new Error('on purpose');
    });
    await expect(fails).rejects.toThrow('on purpose');
    expect(await readEvents(database.queries, 'never', 0, 10)).toEqual({
      events: [],
      replay_gap: false,
      last_sequence: 0,
    });
    expect(await database.transaction((trx) => appendEvent(trx, at(1), event('a', 3)))).toBe(2);
    const { events } = await readEvents(database.queries, 'a', 0, 10);
    expect(events.map(({ sequence, payload }) => [sequence, payload.n])).toEqual([
      [1, 1],
      [2, 3],
    ]);
  });

  it('[FLR-outbox-sequence] pages follow each other from a cursor', async () => {
    const database = await (await useStore(makeStore)).open();
    await database.transaction(async (trx) => {
      for (let n = 1; n <= 25; n += 1) await appendEvent(trx, at(1), event('a', n));
    });
    const seen: number[] = [];
    for (let cursor = 0; ; ) {
      const { events, last_sequence } = await readEvents(database.queries, 'a', cursor, 7);
      expect(last_sequence).toBe(25);
      if (events.length === 0) break;
      seen.push(...events.map(({ sequence }) => sequence));
      cursor = events.at(-1)?.sequence ?? cursor;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => n + 1));
  });

  it('[FLR-outbox-sequence] a cursor older than what was pruned is told of the gap; counting goes on', async () => {
    const database = await (await useStore(makeStore)).open();
    for (let n = 1; n <= 6; n += 1) {
      await database.transaction((trx) => appendEvent(trx, at(n), event('a', n)));
    }
    await database.transaction((trx) => appendEvent(trx, at(9), event('b', 1)));
    expect(await pruneEvents(database, '2026-01-01T04:00:00.000Z')).toBe(3);
    const read = async (after: number) => {
      const { events, replay_gap } = await readEvents(database.queries, 'a', after, 100);
      return [replay_gap, events.map(({ sequence }) => sequence)];
    };
    expect(await read(0)).toEqual([true, [4, 5, 6]]);
    expect(await read(2)).toEqual([true, [4, 5, 6]]);
    expect(await read(3)).toEqual([false, [4, 5, 6]]);
    expect(await read(6)).toEqual([false, []]);
    expect((await readEvents(database.queries, 'b', 0, 100)).replay_gap).toBe(false);
    await pruneEvents(database, '2026-01-02T00:00:00.000Z');
    expect(await read(6)).toEqual([false, []]);
    expect(await read(5)).toEqual([true, []]);
    expect(await database.transaction((trx) => appendEvent(trx, at(10), event('a', 7)))).toBe(7);
    expect(await read(6)).toEqual([false, [7]]);
  });

  it('[FLR-outbox-sequence] events pruned in the middle of a read are not skipped in silence', async () => {
    const store = await useStore(makeStore);
    const [database, other] = [await store.open(), await store.open()];
    for (let n = 1; n <= 6; n += 1) {
      await database.transaction((trx) => appendEvent(trx, at(n), event('a', n)));
    }
    let isPruned = false;
    const queries = database.queries.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (isPruned) return result;
        isPruned = true;
        await pruneEvents(other, '2026-01-01T04:00:00.000Z');
        return result;
      },
    });
    const { events, replay_gap } = await readEvents(queries, 'a', 0, 100);
    expect(isPruned).toBe(true);
    expect(replay_gap || events[0]?.sequence === 1, 'all events, or word of the gap').toBe(true);
  });

  it('[FLR-outbox-sequence] each flow version that is added tells so once, in the order of writing', async () => {
    const database = await useLibrary(makeStore);
    const versions = ['1.0.0', '1.2.0', '1.1.0'].map((version) => sampleFlow('flow_told', { version }));
    await addFlows(database, [...versions, ...versions]);
    await expect(
      database.transaction(async () => {
        throw new Error('nothing');
      }),
    ).rejects.toThrow();
    const { events } = await readEvents(database.queries, 'vault:default', 0, 100);
    expect(events.map(({ sequence, type, payload }) => [sequence, type, payload.version])).toEqual([
      [1, 'flow.version.added', '1.0.0'],
      [2, 'flow.version.added', '1.2.0'],
      [3, 'flow.version.added', '1.1.0'],
    ]);
  });
});
