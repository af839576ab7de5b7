import { inert, inertLine, textTable } from '../../kernel/terminal.ts';
import type { TaskRecord } from './task-record.ts';

const MAX_PROMPT_WIDTH = 80;

export function taskTable({ items, total_count }: { items: TaskRecord[]; total_count: number }): string {
  if (items.length === 0) return '(no task waits for anybody)';
  const rows = items.map((task) => [
    String(task.task_id),
    task.waiting_since,
    String(task.flowchart_run_id),
    task.flowchart_name,
    shortened(task.title ? `${task.title}: ${task.prompt}` : task.prompt),
  ]);
  const table = textTable(['TASK', 'WAITING SINCE', 'RUN', 'FLOWCHART', 'WHAT TO DO'], rows);
  return total_count > items.length ? `${table}\n(${total_count} in all: --offset shows more)` : table;
}

export function taskCard(task: TaskRecord): string {
  const lines = [
    `task ${task.task_id}: ${task.status}`,
    `flowchart: ${inertLine(task.flowchart_name)} (${task.flowchart_id}), run ${task.flowchart_run_id}`,
    ...(task.title === null ? [] : [`node: ${inertLine(task.title)}`]),
    `waiting since: ${task.waiting_since}`,
    '',
    inert(task.prompt),
  ];
  if (task.answer_schema) lines.push('', `the answer must fit: ${inertLine(JSON.stringify(task.answer_schema))}`);
  if (task.status === 'waiting') lines.push('', `answer it with: flowright task answer ${task.task_id} --answer …`);
  if (task.status === 'answered') {
    const by = `${inertLine(task.answered_by ?? 'somebody')} at ${task.answered_at}`;
    lines.push('', `answered by ${by}: ${inertLine(JSON.stringify(task.answer))}`);
  }
  return lines.join('\n');
}

function shortened(text: string): string {
  const line = inertLine(text);
  return line.length > MAX_PROMPT_WIDTH ? `${line.slice(0, MAX_PROMPT_WIDTH - 1)}…` : line;
}
