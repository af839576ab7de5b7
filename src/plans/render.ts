import { inert, inertLine, textTable } from '../kernel/terminal.ts';
import type { PlanSummary } from './plan-list.ts';
import type { PlanView } from './plan-view.ts';

type Placed = { id: number; name: string; completed_at: string | null };

const box = ({ completed_at }: { completed_at: string | null }) => (completed_at === null ? '[ ]' : '[x]');
const line = (row: Placed) => `${box(row)} ${inertLine(row.name)}  (${row.id})`;

/** The plan as an outline with its boxes; the number in brackets is the id. */
export function planOutline(plan: PlanView): string {
  const lines = [line(plan)];
  if (plan.description !== null) lines.push(...indented(plan.description, '    '));
  for (const stage of plan.stages ?? []) lines.push(...indented(stageOutline(stage), '  '));
  if (plan.stage_count === 0) lines.push('  (no stages yet)');
  lines.push('', progress(plan));
  return lines.join('\n');
}

export function stageOutline(stage: Placed & { tasks?: Placed[] | undefined }): string {
  return [line(stage), ...(stage.tasks ?? []).map((task) => `  ${line(task)}`)].join('\n');
}

export function taskLine(task: Placed): string {
  return line(task);
}

function indented(text: string, indent: string): string[] {
  return inert(text)
    .split('\n')
    .map((part) => `${indent}${part}`.trimEnd());
}

function progress({ stage_count, task_count, completed_task_count }: PlanView): string {
  return `${completed_task_count} of ${task_count} tasks done, ${stage_count} ${stage_count === 1 ? 'stage' : 'stages'}.`;
}

export function planTable(list: { items: PlanSummary[]; total_count: number; offset: number }): string {
  if (list.items.length === 0) return '(no plans)';
  const rows = list.items.map((plan) => [
    String(plan.id),
    box(plan),
    `${plan.completed_task_count}/${plan.task_count}`,
    plan.updated_at,
    plan.name,
  ]);
  const table = textTable(['ID', 'DONE', 'TASKS', 'UPDATED', 'NAME'], rows);
  const shown = list.offset + list.items.length;
  return shown < list.total_count ? `${table}\n(${list.total_count} in all; more: --offset ${shown})` : table;
}

/** What a patch did, line by line, then the plan as it is now. */
export function patchReport(report: {
  action_results: string[];
  warnings: { message: string }[];
  item: PlanView;
}): string {
  const { action_results, warnings, item } = report;
  const done = action_results.length > 0 ? action_results : ['Nothing changed.'];
  const lines = [...done.map(inertLine), ...warnings.map(({ message }) => `warning: ${inertLine(message)}`)];
  return [...lines, '', planOutline(item)].join('\n');
}
