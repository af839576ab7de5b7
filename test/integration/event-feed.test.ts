import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { appendEvent, type Database, readTail, tailStart } from '../../src/database/index.ts';
import { EventFeed, type Published } from '../../src/flowcharts/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type RunRows, runRows } from '../support/run-rows.ts';

onEachDatabase((engine, make) => {
  describe('the feed of events', () => {
    let store: TestStore;
    let database: Database;
    let rows: RunRows;
    let run: number;
    let other: number;
    let feed: EventFeed;

    beforeEach(async () => {
      store = await make();
      database = await store.open();
      rows = runRows(database, systemClock);
      await rows.vault('default');
      const chart = await rows.flowchart([{ type: 'start' }]);
      run = await rows.run(chart.id);
      other = await rows.run(chart.id);
      feed = new EventFeed({ database, clock: systemClock, log: silentLog });
    });
    afterEach(async () => {
      feed.close();
      await store.remove();
    });

    const told = (list: Published[]) => list.map(({ event }) => `${event.flowchart_run_id}:${event.sequence}`);

    it('tells what another connection commits, after the commit, each once and in order [S004-events-after-commit]', async () => {
      await rows.event(run, 'flowchart.run.updated', { status: 'queued' });
      const heard: Published[] = [];
      await feed.listen((published) => heard.push(published));
      const elsewhere = runRows(await store.open(), systemClock);
      for (let at = 0; at < 5; at += 1) {
        await elsewhere.event(run, 'flowchart.run.updated', { status: 'running' });
        await elsewhere.event(other, 'flowchart.run.updated', { status: 'running' });
      }
      await vi.waitFor(() => expect(heard).toHaveLength(10), { timeout: 5_000 });
      expect(told(heard).filter((name) => name.startsWith(`${run}:`))).toEqual(
        [2, 3, 4, 5, 6].map((at) => `${run}:${at}`),
      );
    });

    it('wakes at once when this process commits [FLR-feed-wakes]', async () => {
      const listeners = new Set<(runId: number) => void>();
      const runtime = {
        onCommit: (listener: (runId: number) => void) => {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      };
      const woken = new EventFeed({ database, clock: systemClock, log: silentLog, runtime });
      const heard: Published[] = [];
      const stop = await woken.listen((published) => heard.push(published));
      await rows.event(run, 'flowchart.run.updated', { status: 'running' });
      for (const listener of listeners) listener(run);
      await vi.waitFor(() => expect(told(heard)).toEqual([`${run}:1`]), { timeout: 5_000, interval: 5 });
      stop();
      expect(listeners.size).toBe(0);
    });

    it('goes on after everything was pruned and row numbers began anew [FLR-tail-after-prune]', async () => {
      for (let at = 0; at < 5; at += 1) await rows.event(run, 'flowchart.run.updated', { status: 'running' });
      let cursor = await tailStart(database);
      await database.queries.deleteFrom('events').execute();
      await rows.event(run, 'flowchart.run.updated', { status: 'running' });
      await rows.event(other, 'flowchart.run.updated', { status: 'running' });
      const seen: string[] = [];
      await vi.waitFor(async () => {
        const page = await readTail(database, cursor, 10);
        cursor = page.cursor;
        seen.push(...page.events.map(({ stream, sequence }) => `${stream}:${sequence}`));
        expect(seen).toEqual([`flowchart_run:${run}:6`, `flowchart_run:${other}:1`]);
      });
      expect((await readTail(database, cursor, 10)).events).toEqual([]);
    });

    // SQLite has one writer: a transaction that is open cannot be overtaken there.
    it.runIf(engine === 'postgres')(
      'neither loses nor reorders what an overtaken transaction commits [FLR-feed-order]',
      async () => {
        const heard: Published[] = [];
        await feed.listen((published) => heard.push(published));
        const slow = await store.open();
        let release = (): void => {};
        const gate = new Promise<void>((open) => {
          release = open;
        });
        let begun = (): void => {};
        const hasBegun = new Promise<void>((open) => {
          begun = open;
        });
        // Takes its transaction number first, by an event of another run, and appends to ours last.
        const overtaken = slow.transaction(async (trx) => {
          const append = (runId: number) =>
            appendEvent(trx, systemClock, {
              stream: `flowchart_run:${runId}`,
              type: 'flowchart.run.updated',
              payload: { status: 'running' },
            });
          await append(other);
          begun();
          await gate;
          await append(run);
        });
        await hasBegun;
        await rows.event(run, 'flowchart.run.updated', { status: 'running' });
        await rows.event(run, 'flowchart.run.updated', { status: 'running' });
        release();
        await overtaken;
        await vi.waitFor(() => expect(heard).toHaveLength(4), { timeout: 5_000 });
        expect(told(heard).filter((name) => name.startsWith(`${run}:`))).toEqual([1, 2, 3].map((at) => `${run}:${at}`));
      },
    );
  });
});
