import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { getFlow } from '../../src/flows/index.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright } from '../support/program.ts';
import { EVERY_SCOPE, programOn, useStore } from './library.ts';
import { FALSE_RUNS, oldStore, RUNS, SOUND } from './old-store.ts';
import { type ImportAnswer, importStore, vaultPart, writeStoreFile } from './store-files.ts';

onEachDatabase((_engine, makeStore) => {
  describe('[FLR-store-transfer] an old store file', () => {
    let store: TestStore;
    let database: Database;
    let report: ImportAnswer;

    beforeAll(async () => {
      store = await makeStore();
      report = await importStore(writeStoreFile(join(store.home, 'in'), oldStore()), programOn(store));
      database = await store.open();
    });

    afterAll(() => store?.remove());

    it('is taken over with every sound flow version and record, and the rest is named', () => {
      expect(report).toMatchObject({ vaults: 2, flows: SOUND.length, already_there: 0, records: RUNS.length + 4 });
      const quarantined = report.quarantined.map(({ kind, id }) => `${kind} ${id}`).sort();
      expect(quarantined).toEqual([
        'flows flow_broken',
        'flows flow_orphaned',
        ...FALSE_RUNS.map(({ run_id }) => `runs ${run_id}`).sort(),
        'vault not a valid/vault id',
      ]);
      const reasonOf = (id: string) => report.quarantined.find((item) => item.id === id)?.reason;
      expect(reasonOf('flow_broken')).toContain('/flow/scope');
      expect(reasonOf('flow_orphaned')).toContain('/steps');
      expect(reasonOf('run_false_legacy')).toContain('flow_legacy#2');
    });

    it('gives each version its own steps, also where old rows do not name a version', async () => {
      for (const { flow, steps } of SOUND) {
        const { flow_id, version } = flow;
        const given = await getFlow(database, 'old', flow_id, { visibleScopes: EVERY_SCOPE, version });
        expect(given?.flow, `${flow_id} ${version}`).toEqual(flow);
        expect(given?.steps, `${flow_id} ${version}`).toEqual(flow_id === 'flow_legacy' ? legacySteps(version) : steps);
      }
      const latest = await getFlow(database, 'old', 'flow_many', { visibleScopes: EVERY_SCOPE });
      expect(latest?.flow.version).toBe('1.0.0');
    });

    it('loses unknown keys of flows and steps on the way, for good', async () => {
      const rows = await database.queries.selectFrom('flow_steps').select('step_json').execute();
      const flows = await database.queries.selectFrom('flow_versions').select('flow_json').execute();
      const held = JSON.stringify([rows, flows]);
      for (const word of ['private_note', 'oauth_ref', 'owner', 'flow_version']) expect(held).not.toContain(word);
    });

    it('leaves what it would not accept in quarantine, whole and with the reason', async () => {
      const rows = await database.queries.selectFrom('flow_quarantine').selectAll().execute();
      expect(rows).toHaveLength(report.quarantined.length);
      const runs = rows.filter(({ kind }) => kind === 'runs').map(({ record_json }) => JSON.parse(record_json));
      expect(runs).toEqual(expect.arrayContaining(FALSE_RUNS));
      const vault = rows.find(({ kind }) => kind === 'vault');
      expect(JSON.parse(vault?.record_json ?? '').flows[0].flow_id).toBe('flow_lost');
      expect(rows.every(({ reason }) => reason.length > 10)).toBe(true);
    });

    it('adds nothing when it is imported a second time, and changes no stored version', async () => {
      const changed = oldStore();
      const again = await importStore(writeStoreFile(join(store.home, 'again'), changed), programOn(store));
      expect(again).toMatchObject({ flows: 0, already_there: SOUND.length, records: 0 });
      const versions = await database.queries.selectFrom('flow_versions').select('version').execute();
      expect(versions).toHaveLength(SOUND.length);
    });

    it('leaves a line in the audit log', async () => {
      const lines = await database.queries.selectFrom('audit').selectAll().orderBy('sequence').execute();
      expect(lines[0]).toMatchObject({ action: 'flow.store.import', outcome: 'done', user_id: 'local' });
      expect(JSON.parse(lines[0]?.detail_json ?? '')).toEqual({ flows: SOUND.length, quarantined: 6 });
    });
  });

  it('[FLR-store-transfer] a version with steps of its own ignores steps that name no version', async () => {
    const store = await useStore(makeStore);
    const [first, second] = ['1.0.0', '2.0.0'].map((version) => sampleFlow('flow_half', { version, title: version }));
    const part = vaultPart([second as never], { flows: [{ ...first?.flow }, { ...second?.flow }] });
    part.steps.push(...(first?.steps ?? []).map((step) => ({ ...step })));
    const report = await importStore(writeStoreFile(join(store.home, 'in'), { default: part }), programOn(store));
    expect(report).toMatchObject({ flows: 2, quarantined: [] });
  });

  it('[FLR-store-transfer] ids that hold a NUL are quarantined like any other', async () => {
    const store = await useStore(makeStore);
    const bad = sampleFlow('flow_ok');
    const flow = { ...bad.flow, flow_id: 'flow_\u0000' };
    const steps = bad.steps.map((step) => ({ ...step, flow_id: flow.flow_id, flow_version: '1.0.0' }));
    const folder = writeStoreFile(join(store.home, 'in'), {
      'nul\u0000vault': vaultPart([]),
      default: vaultPart([sampleFlow('flow_good')], { flows: [{ ...sampleFlow('flow_good').flow }, flow] }),
      other: { ...vaultPart([]), flows: [flow], steps },
    });
    const { status, stdout, stderr } = await flowright(['flow', 'store', 'import', folder, '--json'], programOn(store));
    expect(status, stderr).toBe(0);
    const report = JSON.parse(stdout) as ImportAnswer;
    expect(report.flows).toBe(1);
    expect(report.quarantined.map(({ kind }) => kind).sort()).toEqual(['flows', 'flows', 'vault']);
  });
});

/** Both versions of flow_legacy share the rows of its first. */
function legacySteps(version: string) {
  return sampleFlow('flow_legacy', { steps: version === '1.0.0' ? 3 : 2 }).steps;
}
