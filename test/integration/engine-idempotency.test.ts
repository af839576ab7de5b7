import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { done, type InProcessHub, openInProcessHub, outcome } from '../support/in-process-hub.ts';

onEachDatabase((_engine, make) => {
  describe('[FLR-run-idempotency] a key', () => {
    let store: TestStore;
    let hub: InProcessHub;
    let path: string;
    let time = Date.parse('2030-01-01T00:00:00.000Z');

    beforeAll(async () => {
      store = await make();
      hub = await openInProcessHub(store, { clock: { now: () => new Date(time) } });
      const { flowchart } = await done(hub.owner.post('/api/v1/flowcharts', { name: 'Keyed' }));
      path = `/api/v1/flowcharts/${flowchart.id}/run`;
    });
    afterAll(async () => {
      await hub.close();
      await store.remove();
    });
    const started = async (body: object, headers: Record<string, string> = {}) => {
      const { flowchart_run, idempotent } = await done(hub.owner.post(path, body, headers));
      return { id: flowchart_run.id as number, idempotent: idempotent as boolean };
    };

    it('in the body gives the same run for the same request', async () => {
      const first = await started({ idempotency_key: 'body-1', input: { a: 1, b: 2 } });
      expect(first.idempotent).toBe(false);
      expect(await started({ input: { b: 2, a: 1 }, idempotency_key: 'body-1' })).toEqual({
        id: first.id,
        idempotent: true,
      });
    });

    it.each(['Idempotency-Key', 'X-Idempotency-Key'])('in the header %s does the same', async (name) => {
      const first = await started({}, { [name]: `header-${name}` });
      expect(await started({}, { [name]: `header-${name}` })).toEqual({ id: first.id, idempotent: true });
      expect((await started({})).id, 'without it').not.toBe(first.id);
    });

    it('is refused for another request', async () => {
      await started({ idempotency_key: 'other', input: { a: 1 } });
      expect(await outcome(hub.owner.post(path, { idempotency_key: 'other', input: { a: 2 } }))).toBe('CONFLICT');
      expect(await outcome(hub.owner.post(path, { input: { a: 2 } }, { 'idempotency-key': 'other' }))).toBe('CONFLICT');
    });

    it('of many requests at once makes one run', async () => {
      const all = await Promise.all(Array.from({ length: 8 }, () => started({ idempotency_key: 'race' })));
      expect(new Set(all.map(({ id }) => id)).size).toBe(1);
      expect(all.filter(({ idempotent }) => !idempotent)).toHaveLength(1);
    });

    it('works for replays, each action and run by itself', async () => {
      const { id } = await started({});
      await hub.app.services.runtime.settled(id);
      const retry = `/api/v1/flowcharts/runs/${id}/retry`;
      const first = await done(hub.owner.post(retry, {}, { 'idempotency-key': 'again' }));
      const second = await done(hub.owner.post(retry, { idempotency_key: 'again' }));
      expect([first.applied_action, second.applied_action]).toEqual(['replay_queued', 'replay_existing']);
      expect(second.replay_run.id).toBe(first.replay_run.id);
      expect(await outcome(hub.owner.post(retry, { idempotency_key: 'again', graph: 'latest' }))).toBe('CONFLICT');
      const other = await done(hub.owner.post(retry, { idempotency_key: 'another' }));
      expect(other.replay_run.id).not.toBe(first.replay_run.id);
    });

    it('is forgotten after a day', async () => {
      const first = await started({ idempotency_key: 'daily' });
      time += 24 * 3_600_000 - 1_000;
      expect((await started({ idempotency_key: 'daily' })).id).toBe(first.id);
      time += 2_000;
      const next = await started({ idempotency_key: 'daily' });
      expect(next.idempotent).toBe(false);
      expect(next.id).not.toBe(first.id);
    });
  });
});
