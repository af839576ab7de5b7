import type { Trx } from '../../../database/index.ts';
import {
  changeMemory,
  createMemory,
  findMemory,
  fitsMemory,
  holdMemory,
  MAX_MEMORY_BYTES,
  type Memory,
} from '../../../memories/index.ts';
import { AttemptFailure, type Mode } from '../modes.ts';
import { type NodeExecution, NodeFailure } from '../node-type.ts';
import { askModel, type Inference } from './ask-model.ts';
import type { MemoryConfig, StoreMode } from './config.ts';
import { type AddInference, readAddInference } from './contracts.ts';
import { lookUp } from './dot-path.ts';
import type { Prompts } from './prompt.ts';
import { refMissing } from './ref.ts';

/** What will be written once the node run is committed. */
export interface PlannedAdd {
  text: string;
  store_mode: StoreMode;
  llm_guided_add: Inference<AddInference>['evidence'] | null;
}

const CONTRACT =
  '{"text": string, required: what to keep; "store_mode": "append" or "replace", optional; "confidence": number from 0 to 1, optional}';

/** Decides what to write, in one mode; changes nothing. */
export async function planAdd(
  execution: NodeExecution,
  config: MemoryConfig,
  prompts: Prompts,
  mode: Mode,
): Promise<PlannedAdd> {
  const present = await presentMemory(execution);
  const planned =
    mode === 'llm_guided'
      ? await inferredAdd(execution, config, prompts, present)
      : { text: plainText(execution, config, prompts), store_mode: config.store_mode, llm_guided_add: null };
  // Without a choice of its author, a node that appends loses nothing.
  const add = { ...planned, store_mode: planned.store_mode ?? ('append' as const) };
  if (!fitsMemory(merged(present?.description ?? '', add))) {
    throw new AttemptFailure('primary_invalid_result', tooLong(present?.id));
  }
  return add;
}

/** Writes it, on the memory as it is in the transaction that completes the node run. */
export async function commitAdd(trx: Trx, execution: NodeExecution, add: PlannedAdd): Promise<Memory> {
  const { vault_id, node, services } = execution;
  const { dialect } = services.database;
  if (node.ref_id === null) {
    return createMemory(trx, dialect, services.clock, { vault_id, title: node.title, description: add.text });
  }
  const current = await holdMemory(trx, dialect, vault_id, node.ref_id);
  if (!current) throw refMissing(node.ref_id);
  const description = merged(current.description, add);
  if (!fitsMemory(description)) throw new NodeFailure('memory_too_long', tooLong(current.id));
  const stored = await changeMemory(trx, dialect, services.clock, { vault_id, id: current.id, description });
  if (!stored) throw refMissing(current.id);
  return stored;
}

async function inferredAdd(
  { services, signal }: NodeExecution,
  config: MemoryConfig,
  prompts: Prompts,
  present: Memory | undefined,
) {
  const question = {
    action: 'add' as const,
    prompts,
    present: present?.description,
    contract: CONTRACT,
  };
  const { value, evidence } = await askModel(services.llm, question, signal, readAddInference);
  return { text: value.text, store_mode: config.store_mode ?? value.store_mode ?? null, llm_guided_add: evidence };
}

/** The text at a path beats the text of the config; without either, what the node was asked is what it keeps. */
function plainText({ input }: NodeExecution, config: MemoryConfig, { effective_prompt }: Prompts): string {
  const found = config.text_source_path === '' ? undefined : lookUp(input, config.text_source_path);
  // What a run produced may hold what no database takes as text.
  const text = (textOf(found) || config.text || effective_prompt).replace(/\0|\p{Cs}/gu, '\ufffd');
  if (text === '') {
    throw new AttemptFailure(
      'primary_runtime_error',
      'There is nothing to remember: give the node a text, a text_source_path that leads to one, or an additive_prompt.',
    );
  }
  return text;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value.trim() : JSON.stringify(value);
}

function merged(present: string, { text, store_mode }: Pick<PlannedAdd, 'text' | 'store_mode'>): string {
  return store_mode === 'append' && present !== '' ? `${present}\n\n${text}` : text;
}

async function presentMemory({ vault_id, node, services }: NodeExecution): Promise<Memory | undefined> {
  if (node.ref_id === null) return undefined;
  const found = await findMemory(services.database.queries, vault_id, node.ref_id);
  if (!found) throw refMissing(node.ref_id);
  return found;
}

function tooLong(memoryId: number | undefined): string {
  const which = memoryId === undefined ? 'The memory' : `Memory ${memoryId}`;
  return `${which} would be longer than ${MAX_MEMORY_BYTES} bytes. Replace instead of appending, or keep less.`;
}
