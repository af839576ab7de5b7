import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createFreshness, Kept } from '../../src/database/index.ts';
import { flowsTopic } from '../../src/flows/flow-store.ts';
import { openInside } from '../security/inside.ts';
import { onEachDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, flowrightJson, type Hub, startHub } from '../support/program.ts';
import { addFlows, makeVault, programOn, useStore, VAULT } from './library.ts';
import { importStore, vaultPart, writeStoreFile } from './store-files.ts';

const TIMES = 8;

interface FlowsAnswer {
  flows?: { flow_id: string; version: string }[];
  flow?: { version: string };
}

let hub: Hub | undefined;
afterEach(async () => {
  await hub?.stop();
  hub = undefined;
});

onEachDatabase((_engine, makeStore) => {
  it('[FLR-freshness-cross-process] a hub answers with what another process has just written', async () => {
    const store = await useStore(makeStore);
    const options = programOn(store);
    const { token } = await flowrightJson<{ token: string }>(
      ['token', 'create', '--user', 'local', '--role', 'admin'],
      options,
    );
    hub = await startHub(options);
    const { url } = hub;
    const ask = async (path: string) => {
      const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
      return (await response.json()) as FlowsAnswer;
    };
    const writer = await store.open();
    const stale: string[] = [];
    for (let round = 1; round <= TIMES; round += 1) {
      // Asked twice first, so that the answer of before is one that is kept ready.
      for (let warm = 0; warm < 2; warm += 1) await ask('/api/v1/flows?tag=fresh');
      const version = `1.${round}.0`;
      const bundle = sampleFlow('flow_fresh', { version, title: `Round ${round}`, tags: ['fresh', `r${round}`] });
      // A program writes, and then this process, which is another one for the hub as well.
      if (round === 1) {
        const folder = writeStoreFile(join(store.home, 'in'), { default: vaultPart([bundle]) });
        expect((await importStore(folder, options)).flows).toBe(1);
      } else expect(await addFlows(writer, [bundle], 'default')).toEqual([true]);
      const [list, tagged, get] = await Promise.all(
        ['/api/v1/flows', `/api/v1/flows?tag=r${round}`, '/api/v1/flows/flow_fresh'].map(ask),
      );
      const seen = [
        list?.flows?.find(({ flow_id }) => flow_id === 'flow_fresh')?.version,
        tagged?.flows?.[0]?.version,
        get?.flow?.version,
      ];
      if (seen.some((given) => given !== version)) stale.push(`round ${round}: ${seen.join(', ')}`);
    }
    expect(stale).toEqual([]);
  });

  it('[FLR-freshness-cross-process] a hub knows at once of members and tokens changed by another process', async () => {
    const store = await useStore(makeStore);
    const options = programOn(store);
    const create = ['token', 'create', '--user', 'vera', '--role', 'viewer'];
    const { token, token_id } = await flowrightJson<{ token: string; token_id: string }>(create, options);
    hub = await startHub(options);
    const { url } = hub;
    const count = async () => {
      const response = await fetch(`${url}/api/v1/flows`, { headers: { authorization: `Bearer ${token}` } });
      return response.ok ? ((await response.json()) as FlowsAnswer).flows?.length : response.status;
    };
    expect([await count(), await count()]).toEqual([4, 4]);
    await flowright(['member', 'set', 'vera', '--role', 'editor'], options);
    expect(await count()).toBe(6);
    // This process is another one for the hub as well.
    const inside = await openInside(store, {});
    for (let round = 0; round < 5; round += 1) {
      await inside.member('vera', 'viewer');
      expect(await count()).toBe(4);
      await inside.member('vera', 'editor');
      expect(await count()).toBe(6);
    }
    await inside.close();
    expect((await flowright(['token', 'revoke', token_id, '--yes'], options)).status).toBe(0);
    expect(await count()).toBe(401);
  });

  it('[FLR-freshness-cross-process] a kept answer is used again until its own topic moves', async () => {
    const store = await useStore(makeStore);
    const [reader, writer] = [await store.open(), await store.open()];
    for (const vault of [VAULT, 'other']) await makeVault(writer, vault);
    const kept = new Kept<number>(createFreshness(reader), 10);
    let computed = 0;
    // Every question comes in a turn of the event loop of its own, as requests do.
    const ask = async () => {
      await new Promise((turn) => setImmediate(turn));
      return kept.get(flowsTopic(VAULT), 'key', async () => ++computed);
    };
    expect([await ask(), await ask()]).toEqual([1, 1]);
    for (let round = 1; round <= TIMES; round += 1) {
      await addFlows(writer, [sampleFlow(`flow_${round}`)], 'other');
      expect(await ask(), 'another vault').toBe(round);
      await addFlows(writer, [sampleFlow(`flow_${round}`)]);
      expect(await ask(), 'this vault').toBe(round + 1);
      await addFlows(reader, [sampleFlow(`flow_own_${round}`)], 'other');
      expect(await ask(), 'this connection, another vault').toBe(round + 1);
    }
  });
});
