import { type DialectName, forgetWords, indexWords, type Queries, type Trx } from '../database/index.ts';
import { byPosition, type PlacedRow, type Plan, type PlanStage } from './plan-tree.ts';

const ROWS_PER_STATEMENT = 200;

/** The plan with everything in it, or null: one of another vault is not there. */
export async function loadPlan(queries: Queries, vaultId: string, planId: number): Promise<Plan | null> {
  const row = await planRow(queries, vaultId, planId).executeTakeFirst();
  return row ? withStages(queries, row) : null;
}

/** The same, and whoever else wants to change it waits until this transaction ends. */
export async function lockPlan(trx: Trx, dialect: DialectName, vaultId: string, planId: number): Promise<Plan | null> {
  const row = await planRow(trx, vaultId, planId)
    .$if(dialect === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst();
  return row ? withStages(trx, row) : null;
}

function planRow(queries: Queries, vaultId: string, planId: number) {
  return queries.selectFrom('plans').selectAll().where('id', '=', planId).where('vault_id', '=', vaultId);
}

async function withStages(queries: Queries, row: Omit<Plan, 'stages'>): Promise<Plan> {
  const stages = await queries
    .selectFrom('plan_stages')
    .select(['id', 'name', 'description', 'position', 'completed_at', 'created_at', 'updated_at'])
    .where('plan_id', '=', row.id)
    .execute();
  const tasks = await queries
    .selectFrom('plan_tasks')
    .innerJoin('plan_stages', 'plan_stages.id', 'plan_tasks.plan_stage_id')
    .selectAll('plan_tasks')
    .where('plan_stages.plan_id', '=', row.id)
    .execute();
  const byStage = new Map<number, PlacedRow[]>();
  for (const { plan_stage_id, ...task } of tasks) {
    const siblings = byStage.get(plan_stage_id);
    if (siblings) siblings.push(task);
    else byStage.set(plan_stage_id, [task]);
  }
  const tree = stages.map((stage) => ({ ...stage, tasks: (byStage.get(stage.id) ?? []).sort(byPosition) }));
  return { ...row, stages: tree.sort(byPosition) };
}

/** A plan without stages; nodes that need one of their own begin with this. */
export async function createPlan(
  trx: Trx,
  dialect: DialectName,
  plan: { vault_id: string; name: string; description: string | null; now: string },
): Promise<Plan> {
  const { now, ...fields } = plan;
  const row = { ...fields, completed_at: null, created_at: now, updated_at: now };
  const { id } = await trx.insertInto('plans').values(row).returning('id').executeTakeFirstOrThrow();
  const created = { ...row, id, stages: [] };
  await indexPlan(trx, dialect, created);
  return created;
}

/** Stores whatever differs. The answer is the plan afterwards and, for each row that was new, the id it got. */
export async function savePlan(
  trx: Trx,
  dialect: DialectName,
  before: Plan,
  after: Plan,
): Promise<{ plan: Plan; ids: SavedIds }> {
  const ids: SavedIds = { stages: new Map(), tasks: new Map() };
  if (isSame(before, after)) return { plan: after, ids };
  const { name, description, completed_at, updated_at } = after;
  await trx
    .updateTable('plans')
    .set({ name, description, completed_at, updated_at })
    .where('id', '=', after.id)
    .execute();
  await removeRows(trx, before, after);
  await changeRows(trx, before, after);
  const stages = await addStages(trx, after, ids);
  const plan = { ...after, stages: await addTasks(trx, stages, ids) };
  await indexPlan(trx, dialect, plan);
  return { plan, ids };
}

/** From an id below zero to the stored one. */
export interface SavedIds {
  stages: Map<number, number>;
  tasks: Map<number, number>;
}

const allTasks = ({ stages }: Plan) => stages.flatMap(({ tasks }) => tasks);
const idsOf = (rows: readonly { id: number }[]) => new Set(rows.map(({ id }) => id));

function isSame(before: Plan, after: Plan): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

async function removeRows(trx: Trx, before: Plan, after: Plan): Promise<void> {
  const stages = idsOf(after.stages);
  const tasks = idsOf(allTasks(after));
  // Tasks go with their stage.
  const goneStages = before.stages.filter(({ id }) => !stages.has(id));
  const goneTasks = before.stages
    .filter(({ id }) => stages.has(id))
    .flatMap((stage) => stage.tasks.filter(({ id }) => !tasks.has(id)));
  for (const chunk of chunks(goneStages)) {
    await trx
      .deleteFrom('plan_stages')
      .where(
        'id',
        'in',
        chunk.map(({ id }) => id),
      )
      .execute();
  }
  for (const chunk of chunks(goneTasks)) {
    await trx
      .deleteFrom('plan_tasks')
      .where(
        'id',
        'in',
        chunk.map(({ id }) => id),
      )
      .execute();
  }
}

async function changeRows(trx: Trx, before: Plan, after: Plan): Promise<void> {
  for (const stage of changed(before.stages, after.stages)) {
    await trx.updateTable('plan_stages').set(columnsOf(stage)).where('id', '=', stage.id).execute();
  }
  for (const task of changed(allTasks(before), allTasks(after))) {
    await trx.updateTable('plan_tasks').set(columnsOf(task)).where('id', '=', task.id).execute();
  }
}

function changed(before: readonly PlacedRow[], after: readonly PlacedRow[]): PlacedRow[] {
  const old = new Map(before.map((row) => [row.id, JSON.stringify(columnsOf(row))]));
  return after.filter((row) => old.has(row.id) && old.get(row.id) !== JSON.stringify(columnsOf(row)));
}

function columnsOf({ name, description, position, completed_at, updated_at }: PlacedRow) {
  return { name, description, position, completed_at, updated_at };
}

/** No two stages of a plan stand in one place, so the place tells which new row is which. */
async function addStages(trx: Trx, plan: Plan, ids: SavedIds): Promise<PlanStage[]> {
  for (const chunk of chunks(plan.stages.filter(({ id }) => id < 0))) {
    const rows = chunk.map((stage) => ({ ...columnsOf(stage), plan_id: plan.id, created_at: stage.created_at }));
    const stored = await trx.insertInto('plan_stages').values(rows).returning(['id', 'position']).execute();
    const idAt = new Map(stored.map(({ id, position }) => [position, id]));
    for (const { id, position } of chunk) ids.stages.set(id, idAt.get(position) as number);
  }
  return plan.stages.map((stage) => ({ ...stage, id: ids.stages.get(stage.id) ?? stage.id }));
}

async function addTasks(trx: Trx, stages: PlanStage[], ids: SavedIds): Promise<PlanStage[]> {
  const fresh = stages.flatMap(({ id: plan_stage_id, tasks }) =>
    tasks.filter(({ id }) => id < 0).map((task) => ({ task, plan_stage_id })),
  );
  for (const chunk of chunks(fresh)) {
    const rows = chunk.map(({ task, plan_stage_id }) => ({
      ...columnsOf(task),
      plan_stage_id,
      created_at: task.created_at,
    }));
    const stored = await trx
      .insertInto('plan_tasks')
      .values(rows)
      .returning(['id', 'plan_stage_id', 'position'])
      .execute();
    const idAt = new Map(stored.map(({ id, plan_stage_id, position }) => [`${plan_stage_id}/${position}`, id]));
    for (const { task, plan_stage_id } of chunk) {
      ids.tasks.set(task.id, idAt.get(`${plan_stage_id}/${task.position}`) as number);
    }
  }
  return stages.map((stage) => ({
    ...stage,
    tasks: stage.tasks.map((task) => ({ ...task, id: ids.tasks.get(task.id) ?? task.id })),
  }));
}

export async function deletePlan(trx: Trx, dialect: DialectName, planId: number): Promise<void> {
  await trx.deleteFrom('plans').where('id', '=', planId).execute();
  await forgetWords(trx, dialect, 'plan', planId);
}

async function indexPlan(trx: Trx, dialect: DialectName, plan: Plan): Promise<void> {
  const names = plan.stages.flatMap((stage) => [stage.name, ...stage.tasks.map(({ name }) => name)]);
  const body = [plan.description ?? '', ...names].join('\n');
  await indexWords(trx, dialect, { kind: 'plan', id: plan.id, vault_id: plan.vault_id, title: plan.name, body });
}

function* chunks<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) yield rows.slice(at, at + ROWS_PER_STATEMENT);
}
