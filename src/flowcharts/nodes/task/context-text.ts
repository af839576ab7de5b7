import type { ContextEntry, InputContext } from '../../runtime/input-context.ts';

export const MAX_CONTEXT_LENGTH = 24_000;
export const MAX_ENTRY_LENGTH = 4_000;
/** Kept back for the line that says what was left out. */
const LAST_LINE_LENGTH = 400;

/**
 * What a model is shown of the run: the outputs that reached this node, the newest first, each cut to size. It says
 * what was cut, so that nobody takes a part for the whole. Angle brackets are escaped: the text cannot end the block
 * it stands in.
 */
export function contextText(input: InputContext, runInput: unknown): string {
  const entries: { title: string; text: string }[] = [];
  const solid = [...input.upstream_nodes].sort((a, b) => b.sequence - a.sequence);
  for (const entry of solid) entries.push(entryText(entry));
  for (const entry of input.context_only_upstream_nodes) entries.push(entryText(entry));
  if (runInput !== undefined && runInput !== null)
    entries.push({ title: 'input of the run', text: inertJson(runInput) });
  const room = MAX_CONTEXT_LENGTH - LAST_LINE_LENGTH;
  const shown: string[] = [];
  let length = 0;
  let left = 0;
  for (const { title, text } of entries) {
    const part = `[${title}]\n${cut(text, MAX_ENTRY_LENGTH - title.length - 3)}`;
    if (left > 0 || length + part.length + 2 > room) {
      left += 1;
      continue;
    }
    shown.push(part);
    length += part.length + 2;
  }
  if (left > 0) shown.push(`(${left} more ${left === 1 ? 'entry was' : 'entries were'} left out)`);
  return shown.join('\n\n');
}

function entryText({ node_id, node_type, execution_index, edge_mode, output_state, routing_state }: ContextEntry) {
  const { attachments: _files, node_type: _type, ...output } = output_state;
  const route = typeof routing_state.route_key === 'string' ? { route_key: routing_state.route_key } : {};
  const through = edge_mode === 'solid' ? 'trigger' : 'context only';
  return {
    title: `node ${node_id}, ${node_type}, execution ${execution_index}, ${through}`,
    text: inertJson({ ...output, ...route }),
  };
}

function inertJson(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replaceAll('<', '\\u003c').replaceAll('>', '\\u003e');
}

/** At most so long, the note about the cut included. */
export function cut(text: string, maximum: number): string {
  if (text.length <= maximum) return text;
  const note = (left: number) => ` …(${left} characters left out)`;
  const kept = Math.max(0, maximum - note(text.length).length);
  return (text.slice(0, kept) + note(text.length - kept)).slice(0, maximum);
}
