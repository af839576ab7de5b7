import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { useStore, VAULT } from './library.ts';
import { baseOf, openReview, type Proposed, type Review, withoutStarters } from './review.ts';
import { filesIn } from './vault-files.ts';

const FLOW = 'flow_whole';

/** Every row of every table. */
async function everything({ queries, dialect }: Database): Promise<Record<string, string[]>> {
  const names = await (dialect === 'sqlite'
    ? sql<{ name: string }>`select name from sqlite_master where type = 'table' order by name`
    : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public' order by 1`
  ).execute(queries);
  const tables: Record<string, string[]> = {};
  for (const { name } of names.rows) {
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(queries);
    tables[name] = rows.map((row) => JSON.stringify(row)).sort();
  }
  return tables;
}

/** Makes the database refuse one kind of write, until the returned function is called. */
async function refuseWrites(
  { queries, dialect }: Database,
  act: 'insert' | 'update',
  table: string,
): Promise<() => Promise<void>> {
  const run = (statement: string) => sql.raw(statement).execute(queries);
  if (dialect === 'sqlite') {
    await run(`create trigger refuse before ${act} on ${table} begin select raise(abort, 'on purpose'); end`);
    return async () => void (await run('drop trigger refuse'));
  }
  await run(`create or replace function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'on purpose'; end $$`);
  await run(`create trigger refuse before ${act} on ${table} for each row execute function refuse()`);
  return async () => void (await run(`drop trigger refuse on ${table}`));
}

/** In the order in which an approval comes to them; the audit line is its last. */
const FLOW_WRITES = [
  ['insert', 'flow_versions'],
  ['insert', 'flow_steps'],
  ['update', 'flows'],
  ['insert', 'flow_tags'],
  ['insert', 'events'],
  ['update', 'streams'],
  ['update', 'revisions'],
  ['insert', 'flow_mirrors'],
  ['insert', 'file_writes'],
  ['update', 'proposals'],
  ['insert', 'audit'],
] as const;

onEachDatabase((_engine, makeStore) => {
  const open = async (): Promise<{ store: TestStore; review: Review; database: Database; notes(): object }> => {
    const store = await useStore(makeStore);
    const review = await openReview(store);
    await withoutStarters(review, VAULT);
    const root = join(store.home, 'vaults', VAULT);
    const notes = () => (existsSync(root) ? filesIn(root) : {});
    return { store, review, database: review.app.services.database, notes };
  };

  describe('[S003-3-apply-whole] an approval that the database refuses half-way', () => {
    it('of an edit leaves nothing, wherever it was refused, and can be repeated', async () => {
      const { review, database, notes } = await open();
      await review.approve((await review.propose(sampleFlow(FLOW))).proposal_id);
      const base = await baseOf(review, FLOW);
      const draft = (version: string) => ({ ...sampleFlow(FLOW, { version, steps: 5 }), ...base });
      const { proposal_id } = await review.propose(draft('1.1.0'));
      const rival = await review.propose(draft('1.2.0'));
      const before = [await everything(database), notes()];
      for (const [act, table] of FLOW_WRITES) {
        const allow = await refuseWrites(database, act, table);
        expect(await review.refused('proposal.approve', { proposal_id }), `${act} ${table}`).toBe('INTERNAL_ERROR');
        await allow();
        expect([await everything(database), notes()], `${act} ${table}`).toEqual(before);
      }
      expect(await review.approve(proposal_id)).toMatchObject({
        status: 'approved',
        mirror_written: true,
        conflicted: [rival.proposal_id],
      });
      await review.close();
    });

    it.each([
      ['retire a flow', ['events', 'file_writes', 'audit'], ['flows', 'proposals']],
      ['write a note', ['file_writes', 'events', 'audit'], ['proposals']],
    ] as const)('of a proposal to %s leaves nothing either', async (kind, inserts, updates) => {
      const { review, database, notes } = await open();
      await review.approve((await review.propose(sampleFlow(FLOW))).proposal_id);
      const { proposal_id } =
        kind === 'retire a flow'
          ? await review.ask<Proposed>('flow.retire', { flow_id: FLOW, intent: 'Enough.' })
          : await review.ask<Proposed>('proposal.create', { path: 'plan.md', body: '# Plan', intent: 'Begin' });
      const before = [await everything(database), notes()];
      const writes = [...inserts.map((table) => ['insert', table]), ...updates.map((table) => ['update', table])];
      for (const [act, table] of writes) {
        const allow = await refuseWrites(database, act as 'insert' | 'update', table as string);
        expect(await review.refused('proposal.approve', { proposal_id }), `${act} ${table}`).toBe('INTERNAL_ERROR');
        await allow();
        expect([await everything(database), notes()], `${act} ${table}`).toEqual(before);
      }
      expect(await review.approve(proposal_id)).toMatchObject({ status: 'approved', approval_log_written: true });
      await review.close();
    });
  });

  it('[S003-1-one-record] a proposal that the database refuses half-way leaves nothing', async () => {
    const { review, database } = await open();
    await review.propose(sampleFlow('flow_other'));
    const before = await everything(database);
    const draft = { ...sampleFlow(FLOW), intent: 'Add it' };
    for (const table of ['proposals', 'events', 'audit']) {
      const allow = await refuseWrites(database, 'insert', table);
      expect(await review.refused('flow.propose', draft)).toBe('INTERNAL_ERROR');
      await allow();
      // A refusal uses up a number on PostgreSQL; no row shows it.
      expect({ ...(await everything(database)), sqlite_sequence: [] }).toEqual({ ...before, sqlite_sequence: [] });
    }
    await review.close();
  });

  it('[S003-3-apply-whole] a draft that was tampered with in the database is judged again and leaves nothing', async () => {
    const { review, database, notes } = await open();
    const { proposal_id } = await review.propose(sampleFlow(FLOW));
    const { body } = await review.ask<{ body: string }>('proposal.get', { proposal_id });
    for (const tampered of [
      body.replace('"trigger"', '"Trigger"'),
      body.replaceAll(FLOW, 'flow_another'),
      body.slice(1),
      'null',
    ]) {
      await database.queries.updateTable('proposals').set({ body: tampered }).execute();
      const before = [{ ...(await everything(database)), audit: [], sqlite_sequence: [] }, notes()];
      expect(await review.refused('proposal.approve', { proposal_id })).toBe('FLOW_DRAFT_INVALID');
      const after = [{ ...(await everything(database)), audit: [], sqlite_sequence: [] }, notes()];
      expect(after).toEqual(before);
    }
    await review.close();
  });
});
