import { type DialectName, type Queries, searchWords } from '../database/index.ts';

/** A plan in a list: how large it is and how far, without what is in it. */
export interface PlanSummary {
  id: number;
  name: string;
  description: string | null;
  completed_at: string | null;
  created_at: string;
  updated_at: string;
  stage_count: number;
  task_count: number;
  completed_task_count: number;
}

export interface Page {
  limit: number;
  offset: number;
}

/** Newest first. */
export async function listPlans(
  queries: Queries,
  vaultId: string,
  page: Page,
): Promise<{ items: PlanSummary[]; total: number }> {
  const { total } = await queries
    .selectFrom('plans')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where('vault_id', '=', vaultId)
    .executeTakeFirstOrThrow();
  const rows = await queries
    .selectFrom('plans')
    .select('id')
    .where('vault_id', '=', vaultId)
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const ids = rows.map(({ id }) => id);
  return { items: await summaries(queries, vaultId, ids), total: Number(total) };
}

/** Best match first. */
export async function searchPlans(
  queries: Queries,
  dialect: DialectName,
  vaultId: string,
  search: Page & { query: string },
): Promise<{ items: PlanSummary[]; total: number }> {
  const { ids, total } = await searchWords(queries, dialect, { kind: 'plan', vault_id: vaultId, ...search });
  return { items: await summaries(queries, vaultId, ids), total };
}

async function summaries(queries: Queries, vaultId: string, ids: readonly number[]): Promise<PlanSummary[]> {
  if (ids.length === 0) return [];
  const plans = await queries
    .selectFrom('plans')
    .select(['id', 'name', 'description', 'completed_at', 'created_at', 'updated_at'])
    .where('vault_id', '=', vaultId)
    .where('id', 'in', ids)
    .execute();
  const sizes = await queries
    .selectFrom('plan_stages')
    .leftJoin('plan_tasks', 'plan_tasks.plan_stage_id', 'plan_stages.id')
    .select(({ fn }) => [
      'plan_stages.plan_id',
      fn.count<number>('plan_stages.id').distinct().as('stages'),
      fn.count<number>('plan_tasks.id').as('tasks'),
      fn.count<number>('plan_tasks.completed_at').as('completed'),
    ])
    .where('plan_stages.plan_id', 'in', ids)
    .groupBy('plan_stages.plan_id')
    .execute();
  const planOf = new Map(plans.map((plan) => [plan.id, plan]));
  const sizeOf = new Map(sizes.map((size) => [size.plan_id, size]));
  return ids.flatMap((id) => {
    const plan = planOf.get(id);
    const size = sizeOf.get(id);
    if (!plan) return [];
    return {
      ...plan,
      stage_count: Number(size?.stages ?? 0),
      task_count: Number(size?.tasks ?? 0),
      completed_task_count: Number(size?.completed ?? 0),
    };
  });
}
