import { sql } from 'kysely';
import {
  type DialectName,
  forgetWords,
  indexWords,
  type MilestonesTable,
  type Queries,
  searchWords,
  type Trx,
} from '../database/index.ts';
import type { Milestone, MilestoneFields } from './milestone.ts';

type Row = Omit<MilestonesTable, 'id'> & { id: number };

/** The milestone, or null: one of another vault is not there. */
export async function loadMilestone(queries: Queries, vaultId: string, id: number): Promise<Milestone | null> {
  const row = await milestoneRow(queries, vaultId, id).executeTakeFirst();
  return row ? milestoneOf(row) : null;
}

/** The same, and whoever else wants to change it waits until this transaction ends. */
export async function lockMilestone(
  trx: Trx,
  dialect: DialectName,
  vaultId: string,
  id: number,
): Promise<Milestone | null> {
  const row = await milestoneRow(trx, vaultId, id)
    .$if(dialect === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst();
  return row ? milestoneOf(row) : null;
}

function milestoneRow(queries: Queries, vaultId: string, id: number) {
  return queries.selectFrom('milestones').selectAll().where('id', '=', id).where('vault_id', '=', vaultId);
}

/** Keys in the order in which every door shows them, whether the row was just made or read. */
function milestoneOf(row: Row): Milestone {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    priority: row.priority,
    owner: row.owner,
    completed: row.completed === 1,
    start_date: row.start_date,
    due_date: row.due_date,
    progress_percent: row.progress_percent,
    health: row.health,
    success_criteria: row.success_criteria,
    dependencies: row.dependencies,
    links: row.links,
    latest_update: row.latest_update,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export async function createMilestone(
  trx: Trx,
  dialect: DialectName,
  milestone: { vault_id: string; fields: MilestoneFields; now: string },
): Promise<Milestone> {
  const { vault_id, fields, now } = milestone;
  const row = { ...fields, completed: fields.completed ? 1 : 0, vault_id, created_at: now, updated_at: now };
  const { id } = await trx.insertInto('milestones').values(row).returning('id').executeTakeFirstOrThrow();
  const created = milestoneOf({ ...row, id });
  await indexMilestone(trx, dialect, vault_id, created);
  return created;
}

/** Stores what differs; a milestone that is as it was keeps its time of change. */
export async function saveMilestone(
  trx: Trx,
  dialect: DialectName,
  change: { vault_id: string; before: Milestone; after: Milestone; now: string },
): Promise<Milestone> {
  const { vault_id, before, after, now } = change;
  const { id, created_at: _, updated_at: __, ...fields } = after;
  if (JSON.stringify({ ...before, ...fields }) === JSON.stringify(before)) return before;
  const row = { ...fields, completed: fields.completed ? 1 : 0, updated_at: now };
  await trx.updateTable('milestones').set(row).where('id', '=', id).execute();
  const saved = { ...after, updated_at: now };
  await indexMilestone(trx, dialect, vault_id, saved);
  return saved;
}

export async function deleteMilestone(trx: Trx, dialect: DialectName, id: number): Promise<void> {
  await trx.deleteFrom('milestones').where('id', '=', id).execute();
  await forgetWords(trx, dialect, 'milestone', id);
}

export interface Page {
  limit: number;
  offset: number;
}

/** Open ones first, those that are due soonest before the others, those without a date last. */
export async function listMilestones(
  queries: Queries,
  vaultId: string,
  page: Page & { status?: Milestone['status'] | undefined },
): Promise<{ items: Milestone[]; total: number }> {
  const { status } = page;
  const wanted = queries
    .selectFrom('milestones')
    .where('vault_id', '=', vaultId)
    .$if(status !== undefined, (query) => query.where('status', '=', status as Milestone['status']));
  const { total } = await wanted.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await wanted
    .selectAll()
    .orderBy('completed')
    .orderBy(sql`due_date is null`)
    .orderBy('due_date')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { items: rows.map(milestoneOf), total: Number(total) };
}

/** Best match first. */
export async function searchMilestones(
  queries: Queries,
  dialect: DialectName,
  vaultId: string,
  search: Page & { query: string },
): Promise<{ items: Milestone[]; total: number }> {
  const { ids, total } = await searchWords(queries, dialect, { kind: 'milestone', vault_id: vaultId, ...search });
  if (ids.length === 0) return { items: [], total };
  const rows = await queries
    .selectFrom('milestones')
    .selectAll()
    .where('vault_id', '=', vaultId)
    .where('id', 'in', ids)
    .execute();
  const byId = new Map(rows.map((row) => [row.id, milestoneOf(row)]));
  return { items: ids.flatMap((id) => byId.get(id) ?? []), total };
}

async function indexMilestone(trx: Trx, dialect: DialectName, vault_id: string, milestone: Milestone): Promise<void> {
  const { id, name, description, owner, latest_update, success_criteria, dependencies, links } = milestone;
  const body = [description, owner, latest_update, success_criteria, dependencies, links]
    .filter((text) => text !== null)
    .join('\n');
  await indexWords(trx, dialect, { kind: 'milestone', id, vault_id, title: name, body });
}
