import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { App } from '../../src/app.ts';
import { bumpRevision } from '../../src/database/index.ts';
import type { Scope } from '../../src/operations/index.ts';
import { addFlows, makeVault } from '../data-integrity/library.ts';
import { openTestApp } from '../support/app.ts';
import { onEachDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';

const VAULT = 'paged';

onEachDatabase((_engine, makeStore) => {
  let app: App;

  beforeEach(async () => {
    const store = await makeStore();
    app = await openTestApp(store);
    onTestFinished(async () => {
      await app.close();
      await store.remove();
    });
  });

  const reader = async (scopes: Scope[], vault_id = VAULT, ambiguous = false) => ({
    ...(await app.principals.local({ identity: 'local', vaultId: vault_id, narrowTo: null, agent: true })),
    visible_scopes: new Set(scopes),
    ambiguous,
  });

  /** Ids of every page, walked to the end. */
  const walk = async (scopes: Scope[], limit: number) => {
    const principal = await reader(scopes);
    const pages: string[][] = [];
    let after: string | undefined;
    do {
      const page = await app.services.flows.page(principal, { after, limit });
      pages.push(page.flows.map(({ flow_id }) => flow_id));
      after = page.next ?? undefined;
    } while (after !== undefined);
    return pages;
  };

  describe('[FLR-mcp-skills] pages of flows', () => {
    beforeEach(async () => {
      const { database } = app.services;
      await makeVault(database, VAULT);
      await database.queries
        .updateTable('vaults')
        .set({ starter_revision: -1 })
        .where('vault_id', '=', VAULT)
        .execute();
      const scopes: Scope[] = ['personal', 'project', 'org'];
      const bundles = Array.from({ length: 12 }, (_, at) =>
        sampleFlow(`flow_${String.fromCharCode(97 + at)}`, { scope: scopes[at % 3] as Scope, steps: (at % 4) + 1 }),
      );
      await addFlows(database, bundles, VAULT);
    });

    it('hold each visible flow once, in the order of the ids, whatever their size', async () => {
      const personal = ['flow_a', 'flow_d', 'flow_g', 'flow_j'];
      expect(await walk(['personal'], 4)).toEqual([personal]);
      expect(await walk(['personal'], 3)).toEqual([personal.slice(0, 3), personal.slice(3)]);
      expect((await walk(['personal', 'org'], 1)).flat()).toHaveLength(8);
      expect((await walk(['personal', 'project', 'org'], 5)).map(({ length }) => length)).toEqual([5, 5, 2]);
      expect(await walk([], 5)).toEqual([[]]);
    });

    it('hold the latest version, whose scope decides, and nothing that was retired', async () => {
      const { database } = app.services;
      await addFlows(
        database,
        [
          sampleFlow('flow_a', { version: '1.10.0', scope: 'org' }),
          sampleFlow('flow_b', { version: '1.9.0', scope: 'personal' }),
          sampleFlow('flow_b', { version: '1.10.0', scope: 'personal', title: 'Newest', steps: 5 }),
          sampleFlow('flow_c', { version: '0.9.0', scope: 'personal' }),
        ],
        VAULT,
      );
      await database.transaction(async (trx) => {
        await trx
          .updateTable('flows')
          .set({ retired_at: '2026-01-01T00:00:00Z' })
          .where('flow_id', '=', 'flow_d')
          .execute();
        await bumpRevision(trx, `flows:${VAULT}`);
      });
      expect(await walk(['personal'], 10)).toEqual([['flow_b', 'flow_g', 'flow_j']]);
      const { flows } = await app.services.flows.pageWithSteps(await reader(['personal']), { limit: 1 });
      expect(flows).toMatchObject([{ flow: { flow_id: 'flow_b', version: '1.10.0', title: 'Newest' } }]);
      expect(flows[0]?.steps).toHaveLength(5);
    });

    it('with steps are the very definitions that one gets one by one', async () => {
      const principal = await reader(['personal', 'project', 'org']);
      const { flows } = await app.services.flows.pageWithSteps(principal, { limit: 100 });
      expect(flows).toHaveLength(12);
      for (const bundle of flows) {
        const { flow, steps } = await app.services.flows.get(principal, { flow_id: bundle.flow.flow_id });
        expect(bundle).toEqual({ flow, steps });
      }
    });

    it('of an ambiguous membership are refused', async () => {
      const principal = await reader(['personal'], VAULT, true);
      await expect(app.services.flows.page(principal, { limit: 5 })).rejects.toMatchObject({
        code: 'FLOW_SCOPE_AMBIGUOUS',
      });
    });
  });

  it('[S002-1.4-seed-lazy] the first page of a vault seeds it', async () => {
    const { flows } = await app.services.flows.page(await reader(['personal', 'project'], 'default'), { limit: 100 });
    expect(flows).toHaveLength(6);
  });
});
