import { inert, inertLine, textTable } from '../kernel/terminal.ts';
import type { Memory } from './memory.ts';

const EXCERPT = 80;

export function memoryTable(page: { items: Memory[]; total_count: number; offset: number }): string {
  const { items, total_count, offset } = page;
  if (items.length === 0) return total_count === 0 ? '(no memories)' : `(no more: ${total_count} in all)`;
  const rows = items.map(({ id, updated_at, title, description }) => [
    String(id),
    updated_at,
    title ?? '-',
    excerptOf(description),
  ]);
  const table = textTable(['MEMORY', 'UPDATED', 'TITLE', 'REMEMBERS'], rows);
  const next = offset + items.length;
  return next < total_count ? `${table}\n(${next} of ${total_count}; more: --offset ${next})` : table;
}

export function memoryCard({ item }: { item: Memory }): string {
  const { id, title, description, created_at, updated_at } = item;
  const name = title === null ? '' : `: ${inertLine(title)}`;
  return [`memory ${id}${name}`, `made ${created_at}, changed ${updated_at}`, '', inert(description)].join('\n');
}

function excerptOf(description: string): string {
  const line = [...inertLine(description)];
  return line.length > EXCERPT ? `${line.slice(0, EXCERPT - 1).join('')}…` : line.join('');
}
