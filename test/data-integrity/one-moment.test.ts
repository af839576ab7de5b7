import { expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { listFlows } from '../../src/flows/index.ts';
import { onEachDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { addFlows, EVERY_SCOPE, makeVault, useStore, VAULT } from './library.ts';

/** The database as a reader sees it whose first answer is followed by a change from elsewhere. */
function disturbed(database: Database, disturb: () => Promise<unknown>): Database {
  let isDisturbed = false;
  const queries = database.queries.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (!isDisturbed) {
        isDisturbed = true;
        await disturb();
      }
      return result;
    },
  });
  return { ...database, queries };
}

onEachDatabase((_engine, makeStore) => {
  it.each([
    ['raised', 'personal', 'org'],
    ['lowered', 'org', 'personal'],
  ] as const)('[S002-2.1-latest] a flow whose scope is %s during a list is in it once', async (_word, from, to) => {
    const store = await useStore(makeStore);
    const [reader, writer] = [await store.open(), await store.open()];
    await makeVault(reader, VAULT);
    await addFlows(reader, [sampleFlow('flow_moved', { version: '1.0.0', scope: from }), sampleFlow('flow_still')]);
    const change = () => addFlows(writer, [sampleFlow('flow_moved', { version: '2.0.0', scope: to })]);
    const { flows } = await listFlows(disturbed(reader, change), VAULT, { visibleScopes: EVERY_SCOPE });
    expect(flows.map(({ flow_id }) => flow_id)).toEqual(['flow_moved', 'flow_still']);
    const after = await listFlows(reader, VAULT, { visibleScopes: EVERY_SCOPE });
    expect(
      after.flows.map(({ version }) => version),
      'the change did happen',
    ).toContain('2.0.0');
  });
});
