import { inert, inertLine, textTable } from '../kernel/terminal.ts';
import { LONG_TEXTS, type Milestone } from './milestone.ts';

const box = ({ completed }: Milestone) => (completed ? '[x]' : '[ ]');

export function milestoneTable(list: { items: Milestone[]; total_count: number; offset: number }): string {
  if (list.items.length === 0) return '(no milestones)';
  const rows = list.items.map((milestone) => [
    String(milestone.id),
    box(milestone),
    milestone.status,
    `${milestone.progress_percent} %`,
    milestone.health,
    milestone.due_date ?? '',
    milestone.name,
  ]);
  const table = textTable(['ID', 'DONE', 'STATUS', 'AT', 'HEALTH', 'DUE', 'NAME'], rows);
  const shown = list.offset + list.items.length;
  return shown < list.total_count ? `${table}\n(${list.total_count} in all; more: --offset ${shown})` : table;
}

export function milestoneCard(milestone: Milestone): string {
  const { id, name, status, progress_percent, priority, health, owner, start_date, due_date } = milestone;
  const dates = [start_date ? `from ${start_date}` : '', due_date ? `due ${due_date}` : ''].filter(
    (part) => part !== '',
  );
  const lines = [
    `${box(milestone)} ${inertLine(name)}  (${id})`,
    `    ${status}, ${progress_percent} %, ${priority} priority, health ${health}`,
    ...(owner === null ? [] : [`    owner: ${inertLine(owner)}`]),
    ...(dates.length === 0 ? [] : [`    ${dates.join(', ')}`]),
  ];
  for (const key of LONG_TEXTS) {
    const text = milestone[key];
    if (text !== null)
      lines.push(
        '',
        `${key.replaceAll('_', ' ')}:`,
        ...inert(text)
          .split('\n')
          .map((line) => `  ${line}`),
      );
  }
  return lines.join('\n');
}
