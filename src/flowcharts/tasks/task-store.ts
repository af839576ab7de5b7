import type { Queries, Trx } from '../../database/index.ts';

/** A node run that waits, or waited, for a person; with the names that tell people what it belongs to. */
export type TaskRow = NonNullable<Awaited<ReturnType<typeof findTask>>>;

export interface TaskFilter {
  flowchart_id?: number | undefined;
  run_id?: number | undefined;
}

/** Runs that still go on; only those wait for anybody. */
export const ACTIVE = ['queued', 'running', 'pausing', 'paused', 'stopping'] as const;

export function findTask(queries: Queries, vaultId: string, taskId: number) {
  return tasks(queries, vaultId).where('step.id', '=', taskId).executeTakeFirst();
}

/** Those that nobody has answered yet, the longest waiting first. */
export async function listTasks(
  queries: Queries,
  vaultId: string,
  filter: TaskFilter,
  page: { limit: number; offset: number },
) {
  const waiting = narrowed(tasks(queries, vaultId), filter);
  const rows = await waiting.orderBy('step.id').limit(page.limit).offset(page.offset).execute();
  const counted = await narrowed(tasks(queries, vaultId), filter)
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return { rows, total: Number(counted.count) };
}

/**
 * Writes the answer if nobody else did and the node run still waits; false otherwise. The row of the run comes first,
 * as it does whenever its walker commits: two who lock in different orders wait for each other for ever.
 */
export async function answerTask(
  trx: Trx,
  task: { id: number; flowchart_run_id: number },
  answer: { json: string; by: string; at: string },
): Promise<boolean> {
  await trx
    .updateTable('flowchart_runs')
    .set(({ eb }) => ({ wakes: eb('wakes', '+', 1), updated_at: answer.at }))
    .where('id', '=', task.flowchart_run_id)
    .execute();
  const { numUpdatedRows } = await trx
    .updateTable('flowchart_run_nodes')
    .set({ answer_json: answer.json, answered_by: answer.by, answered_at: answer.at })
    .where('id', '=', task.id)
    .where('status', '=', 'waiting')
    .where('answer_json', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

function tasks(queries: Queries, vaultId: string) {
  return queries
    .selectFrom('flowchart_run_nodes as step')
    .innerJoin('flowchart_runs as run', 'run.id', 'step.flowchart_run_id')
    .innerJoin('flowcharts as chart', 'chart.id', 'run.flowchart_id')
    .leftJoin('flowchart_nodes as node', 'node.id', 'step.flowchart_node_id')
    .where('run.vault_id', '=', vaultId)
    .where('step.node_type', '=', 'task')
    .where('step.wait_json', 'is not', null)
    .select([
      'step.id',
      'step.flowchart_run_id',
      'step.flowchart_node_id',
      'step.execution_index',
      'step.status',
      'step.wait_json',
      'step.answer_json',
      'step.answered_by',
      'step.answered_at',
      'step.started_at',
      'run.flowchart_id',
      'run.status as run_status',
      'chart.name as flowchart_name',
      'node.title',
    ]);
}

function narrowed(query: ReturnType<typeof tasks>, { flowchart_id, run_id }: TaskFilter) {
  let narrow = query
    .where('step.status', '=', 'waiting')
    .where('step.answer_json', 'is', null)
    .where('run.status', 'in', ACTIVE);
  if (flowchart_id !== undefined) narrow = narrow.where('run.flowchart_id', '=', flowchart_id);
  if (run_id !== undefined) narrow = narrow.where('run.id', '=', run_id);
  return narrow;
}
