import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { getFlow, listFlows, seedStarterFlows } from '../../src/flows/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { openTestApp } from '../support/app.ts';
import { onEachDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { tempFolder } from '../support/home.ts';
import { flowright, flowrightJson, ROOT } from '../support/program.ts';
import { addFlows, EVERY_SCOPE, programOn, useLibrary, useStore, VAULT } from './library.ts';

const ALL = { visibleScopes: EVERY_SCOPE };
const STARTERS = join(ROOT, 'flows', 'starter');
const clock = systemClock;
const owner = { identity: 'local', vaultId: VAULT, narrowTo: null, agent: false };

/** A folder of the six starters, one step of one of them without what makes it a procedure, and files that are none. */
function starterFolderWithFaults(): string {
  const folder = tempFolder();
  cpSync(STARTERS, folder, { recursive: true });
  const victim = join(folder, 'flow_overseer_handover.json');
  const bundle = JSON.parse(readFileSync(victim, 'utf8'));
  delete bundle.steps[5].trigger;
  delete bundle.steps[3].verification;
  writeFileSync(victim, JSON.stringify(bundle));
  writeFileSync(join(folder, 'flow_cut_off.json'), '{"flow": {"schema": "knowtation.flow/v0"');
  writeFileSync(join(folder, 'notes.json'), '{"not": "a bundle"}');
  mkdirSync(join(folder, 'flow_a_folder.json'));
  return folder;
}

onEachDatabase((_engine, makeStore) => {
  it('[S002-1.4-seed-idempotent] seeding again adds nothing and counts what is there as skipped', async () => {
    const database = await useLibrary(makeStore);
    expect(await seedStarterFlows({ database, clock }, VAULT)).toEqual({ seeded: 6, skipped: 0 });
    const rows = () => database.queries.selectFrom('flow_versions').selectAll().orderBy('flow_id').execute();
    const before = await rows();
    expect(await seedStarterFlows({ database, clock }, VAULT)).toEqual({ seeded: 0, skipped: 6 });
    expect(await rows()).toEqual(before);
    const steps = await database.queries.selectFrom('flow_steps').select('step_id').execute();
    expect([before.length, steps.length]).toEqual([6, 24]);
  });

  it('[S002-1.4-seed-rejects-whole] a bad bundle is reported with its reasons and leaves no trace', async () => {
    const database = await useLibrary(makeStore);
    const rejected = new Map<string, string>();
    const options = {
      starterDir: starterFolderWithFaults(),
      onReject: (file: string, reason: string) => void rejected.set(file, reason),
    };
    expect(await seedStarterFlows({ database, clock }, VAULT, options)).toEqual({ seeded: 5, skipped: 0 });
    expect([...rejected.keys()].sort()).toEqual([
      'flow_a_folder.json',
      'flow_cut_off.json',
      'flow_overseer_handover.json',
    ]);
    expect(rejected.get('flow_overseer_handover.json')).toMatch(/\/steps\/3\/verification.*\/steps\/5\/trigger/);
    for (const table of ['flows', 'flow_tags', 'flow_versions', 'flow_steps'] as const) {
      const rows = await database.queries.selectFrom(table).select('flow_id').execute();
      expect(new Set(rows.map(({ flow_id }) => flow_id)).size, table).toBe(5);
      expect(rows.map(({ flow_id }) => flow_id)).not.toContain('flow_overseer_handover');
    }
    const { events } = await database.queries
      .selectFrom('events')
      .select((count) => count.fn.countAll<number>().as('events'))
      .executeTakeFirstOrThrow();
    expect(events).toBe(5);
  });

  it('[S002-1.4-seed-idempotent] a flow that is there in any version, or was retired, is left alone', async () => {
    const database = await useLibrary(makeStore);
    await addFlows(database, [
      sampleFlow('flow_research_brief', { version: '0.0.1', title: 'My own' }),
      sampleFlow('flow_capture_to_note', { version: '0.0.1' }),
    ]);
    await database.queries
      .updateTable('flows')
      .set({ retired_at: '2026-01-01T00:00:00Z' })
      .where('flow_id', '=', 'flow_capture_to_note')
      .execute();
    expect(await seedStarterFlows({ database, clock }, VAULT)).toEqual({ seeded: 4, skipped: 2 });
    expect((await getFlow(database, VAULT, 'flow_research_brief', ALL))?.flow).toMatchObject({ title: 'My own' });
    expect(await getFlow(database, VAULT, 'flow_capture_to_note', ALL)).toBeNull();
    const { flows } = await listFlows(database, VAULT, ALL);
    expect(flows.map(({ flow_id }) => flow_id)).not.toContain('flow_capture_to_note');
    expect(flows).toHaveLength(5);
  });

  it('[S002-1.4-seed-idempotent] a folder that is not there seeds nothing and is no error', async () => {
    const database = await useLibrary(makeStore);
    const starterDir = join(tempFolder(), 'not-there');
    expect(await seedStarterFlows({ database, clock }, VAULT, { starterDir })).toEqual({ seeded: 0, skipped: 0 });
  });

  it.each(['list', 'get', 'search'] as const)('[S002-1.4-seed-lazy] the first %s seeds the vault', async (question) => {
    const app = await openTestApp(await useStore(makeStore));
    try {
      const count = async () => (await app.services.database.queries.selectFrom('flows').selectAll().execute()).length;
      expect(await count(), 'nothing before the first question').toBe(0);
      const principal = await app.principals.local(owner);
      const { flows } = app.services;
      if (question === 'list') expect((await flows.list(principal, {})).flows).toHaveLength(6);
      if (question === 'get') {
        expect((await flows.get(principal, { flow_id: 'flow_overseer_handover' })).steps).toHaveLength(6);
      }
      if (question === 'search') expect((await flows.search(principal, { query: 'overseer' })).flows).not.toEqual([]);
      expect(await count()).toBe(6);
    } finally {
      await app.close();
    }
  });

  it('[S002-1.4-seed-lazy] a vault made with --no-starters stays empty through list and get', async () => {
    const options = programOn(await useStore(makeStore));
    await flowright(['vault', 'create', 'bare', '--no-starters'], options);
    const inBare = (...words: string[]) => [...words, '--vault', 'bare'];
    expect(await flowrightJson(inBare('flow', 'list'), options)).toMatchObject({ flows: [], truncated: false });
    const get = await flowright(inBare('flow', 'get', 'flow_capture_to_note', '--json'), options);
    expect([get.status, JSON.parse(get.stderr).code]).toEqual([1, 'unknown_flow']);
    expect(await flowrightJson(inBare('flow', 'list'), options)).toMatchObject({ flows: [] });
    expect((await flowrightJson<{ flows: unknown[] }>(['flow', 'list'], options)).flows).toHaveLength(6);
  });
});

it('[S002-1.4-seed-idempotent] the shipped folder holds nothing but the six bundles', () => {
  expect(readdirSync(STARTERS).every((file) => /^flow_[a-z_]+\.json$/.test(file))).toBe(true);
  expect(readdirSync(STARTERS)).toHaveLength(6);
});
