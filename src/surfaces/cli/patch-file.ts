import { refusal } from '../../kernel/errors.ts';
import { readJson } from './json-file.ts';

/** A change as a file: a list of operations, an object with `ops`, or a whole flow with `nodes` and `edges`. */
export function readPatch(file: string): Record<string, unknown> {
  const content = readJson(file);
  if (Array.isArray(content)) return { ops: content };
  if (content !== null && typeof content === 'object') {
    const { nodes, ops, flow_data } = content as Record<string, unknown>;
    if (Array.isArray(ops)) return { ops };
    if (typeof flow_data === 'string') return { flow_data };
    if (Array.isArray(nodes)) return { flow_data: JSON.stringify(content) };
  }
  throw refusal(
    'USAGE_ERROR',
    `${file} must hold a list of patch operations, an object with ops, or a flow with nodes and edges.`,
  );
}
