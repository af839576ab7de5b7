import type { FlowDiff } from '../flowise/index.ts';

/** What changed, in one line without content: `1 node added, 2 parameters changed`. */
export function changeLine(diff: FlowDiff): string {
  const params = diff.nodes_changed.reduce((sum, { params: changed }) => sum + changed.length, 0);
  const credentials = diff.nodes_changed.filter(({ credential }) => credential !== undefined).length;
  const labels = diff.nodes_changed.filter(({ label_before }) => label_before !== undefined).length;
  const parts = [
    counted(diff.nodes_added.length, 'node', 'added'),
    counted(diff.nodes_removed.length, 'node', 'removed'),
    counted(params, 'parameter', 'changed'),
    counted(credentials, 'credential', 'changed'),
    counted(labels, 'label', 'changed'),
    counted(diff.connections_added.length, 'connection', 'added'),
    counted(diff.connections_removed.length, 'connection', 'removed'),
  ].filter((part) => part !== '');
  if (parts.length > 0) return parts.join(', ');
  const isMoved = diff.nodes_moved.length > 0 || diff.viewport_changed;
  if (diff.identical || (diff.semantic_equal && !isMoved)) return 'the same flow';
  return diff.semantic_equal ? 'only moved on the canvas' : 'other fields changed';
}

function counted(count: number, noun: string, verb: string): string {
  return count === 0 ? '' : `${count} ${noun}${count === 1 ? '' : 's'} ${verb}`;
}
