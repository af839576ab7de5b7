import type { ContextEntry, InputContext } from '../../runtime/input-context.ts';
import type { Action } from './config.ts';

export const MAX_INFERRED = 4_000;

const TEMPLATES: Record<Action, string> = {
  add: 'From what this run has produced, write down the few facts that will still be worth knowing in a later run. Be short and leave out what only mattered today.',
  retrieve: 'Work out which stored memories would help this run most, and say how to find them.',
};

export interface Prompts {
  action_prompt_template: string;
  internal_action_prompt: string;
  additive_prompt: string;
  inferred_prompt: string;
  effective_prompt: string;
}

/** What the node is asked to do, in the words of its author or, where there are none, of the run itself. */
export function promptsFor(action: Action, additivePrompt: string, input: InputContext): Prompts {
  const inferred = inferPrompt(input);
  const effective = additivePrompt === '' ? inferred : additivePrompt;
  const template = TEMPLATES[action];
  return {
    action_prompt_template: template,
    internal_action_prompt: effective === '' ? template : `${template}\n\nAdditional instructions:\n${effective}`,
    additive_prompt: additivePrompt,
    inferred_prompt: inferred,
    effective_prompt: effective,
  };
}

/** What reached the node, as text: the latest trigger first, then all triggers, then context; each text once. */
export function inferPrompt(input: InputContext): string {
  const entries = [input.latest_upstream, ...input.upstream_nodes, ...input.context_only_upstream_nodes];
  const texts = new Set<string>();
  for (const entry of entries) {
    const text = entry ? entryText(entry).trim() : '';
    if (text !== '') texts.add(text);
  }
  return cut([...texts].join('\n\n'), MAX_INFERRED).trim();
}

/** Shorter where it must be, and never half a character. */
export function cut(text: string, maximum: number): string {
  return text.length <= maximum ? text : text.slice(0, maximum).replace(/[\ud800-\udbff]$/, '');
}

const SPEAKING_KEYS = ['answer', 'raw_output', 'message', 'latest_update', 'description'] as const;

function entryText({ node_type, output_state }: ContextEntry): string {
  // That a run has started says nothing; what it was started with does.
  if (node_type === 'start') return textOf(output_state.input);
  if (node_type === 'memory') return memoryText(output_state);
  const { node_type: _type, attachments: _files, ...said } = output_state;
  return Object.keys(said).length === 0 ? '' : textOf(said);
}

/** What was found or written, rather than everything that the node tells about itself. */
function memoryText(state: Record<string, unknown>): string {
  const found = Array.isArray(state.retrieved_memories) ? state.retrieved_memories : [];
  return textOf(found.length > 0 ? found : state.stored_memory);
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) {
    return value
      .map((item) => textOf(item).trim())
      .filter((text) => text !== '')
      .join('\n');
  }
  const record = value as Record<string, unknown>;
  for (const key of SPEAKING_KEYS) {
    const text = Object.hasOwn(record, key) ? textOf(record[key]).trim() : '';
    if (text !== '') return text;
  }
  return JSON.stringify(record);
}
