import { refusal } from '../../kernel/errors.ts';
import { REDACTED } from '../../kernel/secrets.ts';
import { inertLine } from '../../kernel/terminal.ts';
import { readJson } from './json-file.ts';

/** A change as a file tells it. */
export interface PatchFile {
  change: { ops: unknown[] } | { flow_data: string };
  /** What an exported chatflow was called, and what kind it was. */
  exported?: { name?: string; type?: string };
}

/**
 * A list of operations, an object with `ops`, a whole flow with `nodes` and `edges`, or a file that `chatflow export`
 * wrote.
 */
export function readPatch(file: string): PatchFile {
  const content = readJson(file);
  if (Array.isArray(content)) return { change: { ops: content } };
  if (isRecord(content)) {
    const { nodes, ops, flow_data, flow } = content;
    if (Array.isArray(ops)) return { change: { ops } };
    if (typeof flow_data === 'string') return { change: { flow_data } };
    if (Array.isArray(nodes)) return { change: { flow_data: JSON.stringify(content) } };
    if (isRecord(flow) && Array.isArray(flow.nodes)) return exportedFlow(file, content, flow);
  }
  throw refusal(
    'USAGE_ERROR',
    `${file} must hold a list of patch operations, an object with ops, a flow with nodes and edges, or an exported chatflow.`,
  );
}

function exportedFlow(file: string, document: Record<string, unknown>, flow: Record<string, unknown>): PatchFile {
  const { name, type } = document;
  assertWhole(file, { name, flow });
  return {
    change: { flow_data: JSON.stringify(flow) },
    exported: { ...(typeof name === 'string' ? { name } : {}), ...(typeof type === 'string' ? { type } : {}) },
  };
}

const MAX_PLACES = 10;

/** An export shows no secrets; written back, the sign would take their place for good. */
function assertWhole(file: string, document: Record<string, unknown>): void {
  const places = hiddenPlaces(document);
  if (places.length === 0) return;
  const named = places.slice(0, MAX_PLACES).map(inertLine).join(', ');
  const more = places.length > MAX_PLACES ? ` and ${places.length - MAX_PLACES} more` : '';
  throw refusal(
    'PATCH_INVALID',
    `${file} was exported without its secrets: ${REDACTED} stands at ${named}${more}. Put the real values there, or change the chatflow with operations, which leave them alone.`,
  );
}

/** JSON pointers, with the id of the node that each is about. */
function hiddenPlaces(document: Record<string, unknown>): string[] {
  const places: string[] = [];
  const waiting: { value: unknown; path: string; node: string }[] = [{ value: document, path: '', node: '' }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, path, node } = next;
    if (typeof value === 'string' && value.includes(REDACTED)) places.push(node === '' ? path : `${path} (${node})`);
    if (value === null || typeof value !== 'object') continue;
    for (const [key, child] of Object.entries(value).reverse()) {
      const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (key.includes(REDACTED)) places.push(at);
      waiting.push({ value: child, path: at, node: nodeAt(at, child) ?? node });
    }
  }
  return places;
}

function nodeAt(path: string, value: unknown): string | null {
  const id = /^\/flow\/nodes\/\d+$/.test(path) && isRecord(value) ? value.id : null;
  return typeof id === 'string' ? id : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
