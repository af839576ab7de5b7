import { findMemory, latestMemories, type Memory, searchMemories } from '../../../memories/index.ts';
import { AttemptFailure, type Mode } from '../modes.ts';
import type { NodeExecution } from '../node-type.ts';
import { askModel, type Inference } from './ask-model.ts';
import type { MemoryConfig } from './config.ts';
import { type RetrieveInference, readRetrieveInference } from './contracts.ts';
import { lookUp } from './dot-path.ts';
import type { Prompts } from './prompt.ts';
import { refMissing } from './ref.ts';

type Resolution = 'node_ref_id' | 'inferred_memory_id' | 'query';

export interface Retrieved {
  memories: Memory[];
  /** The one memory that was meant; null when they were searched for. */
  memory_id: number | null;
  llm_guided_retrieve:
    | (Inference<RetrieveInference>['evidence'] & {
        retrieval_resolution: Resolution;
        resolved_memory_id: number | null;
      })
    | null;
}

const CONTRACT =
  '{"query_text": string, optional: words to look for, empty for the newest; "memory_id": positive integer, optional: the one memory that is wanted; "limit": integer from 1 to 50, optional; "confidence": number from 0 to 1, optional}';

/** Looks memories up, in one mode. */
export async function retrieve(
  execution: NodeExecution,
  config: MemoryConfig,
  prompts: Prompts,
  mode: Mode,
): Promise<Retrieved> {
  const retrieved =
    mode === 'llm_guided' ? await guided(execution, config, prompts) : await plain(execution, config, prompts);
  if (retrieved.memories.length === 0 && config.require_result) {
    throw new AttemptFailure('primary_empty_result', 'No memory was found, and the node requires one.');
  }
  return retrieved;
}

async function plain(execution: NodeExecution, config: MemoryConfig, prompts: Prompts): Promise<Retrieved> {
  const { ref_id } = execution.node;
  const memories =
    ref_id === null
      ? await search(execution, queryOf(execution, config, prompts), config.limit)
      : [await ownMemory(execution, ref_id)];
  return { memories, memory_id: ref_id, llm_guided_retrieve: null };
}

async function guided(execution: NodeExecution, config: MemoryConfig, prompts: Prompts): Promise<Retrieved> {
  const { node, services, signal } = execution;
  const question = { action: 'retrieve' as const, prompts, contract: CONTRACT };
  const { value, evidence } = await askModel(services.llm, question, signal, readRetrieveInference);
  const answer = (memories: Memory[], retrieval_resolution: Resolution, memory_id: number | null): Retrieved => ({
    memories,
    memory_id,
    llm_guided_retrieve: { ...evidence, retrieval_resolution, resolved_memory_id: memory_id },
  });
  if (node.ref_id !== null) {
    return answer([await ownMemory(execution, node.ref_id)], 'node_ref_id', node.ref_id);
  }
  if (value.memory_id !== undefined) {
    const found = await findMemory(services.database.queries, execution.vault_id, value.memory_id);
    if (!found) {
      throw new AttemptFailure('llm_validation_error', `The model chose memory ${value.memory_id}, and there is none.`);
    }
    return answer([found], 'inferred_memory_id', found.id);
  }
  const query = value.query_text ?? queryOf(execution, config, prompts);
  return answer(await search(execution, query, value.limit ?? config.limit), 'query', null);
}

/** The text at a path beats the query of the config; without either, the words that the node was asked with. */
function queryOf({ input }: NodeExecution, config: MemoryConfig, { effective_prompt }: Prompts): string {
  const found = config.query_source_path === '' ? undefined : lookUp(input, config.query_source_path);
  const given = typeof found === 'string' ? found.trim() : '';
  return given || config.query || effective_prompt;
}

/** Every word first; a sentence is rarely found whole, so then any of its words. Nothing to look for: the newest. */
async function search(execution: NodeExecution, query: string, limit: number): Promise<Memory[]> {
  const { vault_id, services } = execution;
  const { queries, dialect } = services.database;
  const page = { limit, offset: 0 };
  if (query === '') return (await latestMemories(queries, vault_id, page)).items;
  const all = await searchMemories(queries, dialect, { vault_id, query, ...page });
  if (all.items.length > 0) return all.items;
  return (await searchMemories(queries, dialect, { vault_id, query, match: 'any', ...page })).items;
}

async function ownMemory({ vault_id, services }: NodeExecution, id: number): Promise<Memory> {
  const found = await findMemory(services.database.queries, vault_id, id);
  if (!found) throw refMissing(id);
  return found;
}
