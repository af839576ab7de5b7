import { expect, it } from 'vitest';
import { getFlow, listFlows } from '../../src/flows/index.ts';
import { onEachDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { addFlows, EVERY_SCOPE, useLibrary, VAULT } from './library.ts';

const ALL = { visibleScopes: EVERY_SCOPE };
const ids = ({ flows }: { flows: { flow_id: string }[] }): string[] => flows.map(({ flow_id }) => flow_id);

onEachDatabase((_engine, makeStore) => {
  it('[S002-2.2-version] an edit adds a row, and the version before stays as it was', async () => {
    const database = await useLibrary(makeStore);
    const first = sampleFlow('flow_edited', { version: '1.0.0', steps: 3, instruction: 'Old words.' });
    await addFlows(database, [first]);
    const before = JSON.stringify(await getFlow(database, VAULT, 'flow_edited', {}));
    await addFlows(database, [sampleFlow('flow_edited', { version: '1.1.0', steps: 2, instruction: 'New words.' })]);
    const versions = await database.queries.selectFrom('flow_versions').select('version').orderBy('version').execute();
    expect(versions.map(({ version }) => version)).toEqual(['1.0.0', '1.1.0']);
    expect(JSON.stringify(await getFlow(database, VAULT, 'flow_edited', { version: '1.0.0' }))).toBe(before);
    const latest = await getFlow(database, VAULT, 'flow_edited', {});
    expect(latest?.flow.version).toBe('1.1.0');
    expect(latest?.steps.map(({ instruction }) => instruction)).toEqual(['New words.', 'New words.']);
  });

  it('[S002-2.2-version] a version that is there is never changed', async () => {
    const database = await useLibrary(makeStore);
    await addFlows(database, [sampleFlow('flow_fixed', { title: 'As first written' })]);
    const before = JSON.stringify(await getFlow(database, VAULT, 'flow_fixed', {}));
    const isNew = await addFlows(database, [sampleFlow('flow_fixed', { title: 'Rewritten', steps: 7 })]);
    expect(isNew).toEqual([false]);
    expect(JSON.stringify(await getFlow(database, VAULT, 'flow_fixed', {}))).toBe(before);
    const listed = await listFlows(database, VAULT, ALL);
    expect(listed.flows.map(({ title, step_count }) => [title, step_count])).toEqual([['As first written', 2]]);
  });

  it('[S002-2.1-latest] the latest version is the numerically greatest, in whatever order they arrive', async () => {
    const database = await useLibrary(makeStore);
    const huge = '1.99999999999999999998.0';
    const greatest = '1.99999999999999999999.0';
    for (const [flowId, versions, latest] of [
      ['flow_up', ['1.9.0', '1.10.0'], '1.10.0'],
      ['flow_down', ['1.10.0', '1.9.0'], '1.10.0'],
      ['flow_mixed', ['2.0.0', '10.0.0', '9.99.99', '1.0.100'], '10.0.0'],
      ['flow_huge', [greatest, huge], greatest],
    ] as const) {
      await addFlows(
        database,
        versions.map((version) => sampleFlow(flowId, { version, title: version })),
      );
      expect((await getFlow(database, VAULT, flowId, {}))?.flow.version, flowId).toBe(latest);
      for (const version of versions) {
        expect((await getFlow(database, VAULT, flowId, { version }))?.flow.title, flowId).toBe(version);
      }
    }
    const { flows } = await listFlows(database, VAULT, ALL);
    expect(Object.fromEntries(flows.map(({ flow_id, version }) => [flow_id, version]))).toEqual({
      flow_up: '1.10.0',
      flow_down: '1.10.0',
      flow_mixed: '10.0.0',
      flow_huge: greatest,
    });
  });

  it('[S002-2.1-latest] [S002-2.1-narrow] a tag that the latest version lacks no longer lists the flow', async () => {
    const database = await useLibrary(makeStore);
    await addFlows(database, [
      sampleFlow('flow_retagged', { version: '1.0.0', tags: ['old', 'kept'] }),
      sampleFlow('flow_retagged', { version: '2.0.0', tags: ['new', 'kept'] }),
      sampleFlow('flow_retagged', { version: '1.5.0', tags: ['old', 'late'] }),
    ]);
    const listed = async (tag: string) =>
      (await listFlows(database, VAULT, { ...ALL, tag })).flows.map(({ version }) => version);
    expect(await listed('old')).toEqual([]);
    expect(await listed('late')).toEqual([]);
    expect(await listed('new')).toEqual(['2.0.0']);
    expect(await listed('kept')).toEqual(['2.0.0']);
    expect(await listed('ol')).toEqual([]);
  });

  it('[S002-2.1-narrow] the scope of the latest version decides, for its older versions too', async () => {
    const database = await useLibrary(makeStore);
    await addFlows(database, [
      sampleFlow('flow_raised', { version: '1.0.0', scope: 'personal' }),
      sampleFlow('flow_raised', { version: '2.0.0', scope: 'org' }),
      sampleFlow('flow_lowered', { version: '1.0.0', scope: 'org' }),
      sampleFlow('flow_lowered', { version: '2.0.0', scope: 'personal' }),
    ]);
    expect(ids(await listFlows(database, VAULT, {}))).toEqual(['flow_lowered']);
    expect(ids(await listFlows(database, VAULT, { tag: 'test' }))).toEqual(['flow_lowered']);
    expect(ids(await listFlows(database, VAULT, { ...ALL, scope: 'org' }))).toEqual(['flow_raised']);
    expect(ids(await listFlows(database, VAULT, { ...ALL, scope: 'org', tag: 'test' }))).toEqual(['flow_raised']);
    expect(await getFlow(database, VAULT, 'flow_raised', { version: '1.0.0' })).toBeNull();
    expect((await getFlow(database, VAULT, 'flow_lowered', { version: '1.0.0' }))?.flow.scope).toBe('org');
  });

  it('[S002-2.1-order] lists run from the newest change, then by id, across scopes and for tags alike', async () => {
    const database = await useLibrary(makeStore);
    const at = (flowId: string, updated: string, scope: 'personal' | 'project' | 'org' = 'personal') =>
      sampleFlow(flowId, { updated, scope });
    await addFlows(database, [
      at('flow_b', '2026-02-01T00:00:00Z'),
      at('flow_a_b', '2026-02-01T00:00:00.000Z', 'org'),
      at('flow_ab', '2026-02-01T00:00:00Z', 'project'),
      at('flow_10', '2026-02-01T00:00:00Z'),
      at('flow_oldest', '1999-12-31T23:59:59Z', 'org'),
      at('flow_newest', '2026-02-01T00:00:00.001Z', 'project'),
    ]);
    const order = ['flow_newest', 'flow_10', 'flow_a_b', 'flow_ab', 'flow_b', 'flow_oldest'];
    expect(ids(await listFlows(database, VAULT, ALL))).toEqual(order);
    expect(ids(await listFlows(database, VAULT, { ...ALL, tag: 'test' }))).toEqual(order);
    const cut = await listFlows(database, VAULT, { ...ALL, limit: 4 });
    expect([ids(cut), cut.truncated]).toEqual([order.slice(0, 4), true]);
    const whole = await listFlows(database, VAULT, { ...ALL, limit: 6 });
    expect([ids(whole), whole.truncated]).toEqual([order, false]);
  });

  it('[S002-2.1-latest] a retired flow is in no list, by tag neither, and cannot be read', async () => {
    const database = await useLibrary(makeStore);
    await addFlows(database, [sampleFlow('flow_gone'), sampleFlow('flow_here')]);
    await database.queries
      .updateTable('flows')
      .set({ retired_at: '2026-01-02T00:00:00Z' })
      .where('flow_id', '=', 'flow_gone')
      .execute();
    expect(ids(await listFlows(database, VAULT, ALL))).toEqual(['flow_here']);
    expect(await getFlow(database, VAULT, 'flow_gone', ALL)).toBeNull();
    expect(ids(await listFlows(database, VAULT, { ...ALL, tag: 'test' }))).toEqual(['flow_here']);
  });
});
