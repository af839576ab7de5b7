import { inertLine, textTable } from '../kernel/terminal.ts';
import type { AttachmentRecord } from './record.ts';

export function attachmentTable(page: { items: AttachmentRecord[]; total_count: number; offset: number }): string {
  const { items, total_count, offset } = page;
  if (items.length === 0) return total_count === 0 ? '(no attachments)' : `(no more: ${total_count} in all)`;
  const rows = items.map(({ id, size_bytes, content_type, created_at, file_name }) => [
    String(id),
    String(size_bytes),
    content_type,
    created_at,
    file_name,
  ]);
  const table = textTable(['ATTACHMENT', 'BYTES', 'TYPE', 'UPLOADED', 'NAME'], rows);
  const next = offset + items.length;
  return next < total_count ? `${table}\n(${next} of ${total_count}; more: --offset ${next})` : table;
}

export function attachmentCard({
  item,
  flowchart_node_ids,
}: {
  item: AttachmentRecord;
  flowchart_node_ids?: number[];
}): string {
  const lines = [
    `attachment ${item.id}: ${inertLine(item.file_name)}`,
    `${item.size_bytes} bytes, ${inertLine(item.content_type)}`,
    `uploaded by ${inertLine(item.created_by)} at ${item.created_at}`,
    `sha256 ${item.sha256}`,
  ];
  if (flowchart_node_ids) {
    const nodes = flowchart_node_ids.length > 0 ? flowchart_node_ids.join(', ') : '(none)';
    lines.push(`bound to nodes: ${nodes}`);
  }
  return lines.join('\n');
}
