import type { Memory } from '../../../memories/index.ts';
import type { Degradation } from '../modes.ts';
import type { Outcome } from '../node-type.ts';
import type { PlannedAdd } from './add.ts';
import type { MemoryConfig } from './config.ts';
import type { Prompts } from './prompt.ts';
import type { Retrieved } from './retrieve.ts';

type Json = Record<string, unknown>;

export const SYSTEM_MCP_KEYS = ['llmctl-mcp'] as const;
const EMPTY_RESULT = 'primary_empty_result';

interface Told {
  config: MemoryConfig;
  prompts: Prompts;
  execution_index: number;
  degradation: Degradation | null;
}

export function addOutcome(told: Told, stored: Memory, { store_mode, llm_guided_add }: PlannedAdd): Outcome {
  const verb = store_mode === 'append' ? 'Added to' : 'Wrote';
  return outcome(told, {
    line: `${verb} memory ${stored.id}.`,
    memory_id: stored.id,
    stored_memory: stored,
    retrieved_memories: [],
    warning: null,
    evidence: llm_guided_add ? { llm_guided_add } : {},
  });
}

export function retrieveOutcome(told: Told, { memories, memory_id, llm_guided_retrieve }: Retrieved): Outcome {
  const found = memories.length === 1 ? 'Found 1 memory.' : `Found ${memories.length} memories.`;
  return outcome(told, {
    line: memories.length === 0 ? 'Found no memory.' : found,
    memory_id,
    stored_memory: null,
    retrieved_memories: memories,
    warning:
      memories.length === 0 ? { code: EMPTY_RESULT, message: 'No memory matched; the run went on without one.' } : null,
    evidence: llm_guided_retrieve ? { llm_guided_retrieve } : {},
  });
}

function outcome(
  { config, prompts, execution_index, degradation }: Told,
  result: {
    line: string;
    memory_id: number | null;
    stored_memory: Memory | null;
    retrieved_memories: Memory[];
    warning: { code: string; message: string } | null;
    evidence: Json;
  },
): Outcome {
  const { memory_id, stored_memory, retrieved_memories, warning } = result;
  const isDegraded = degradation !== null || warning !== null;
  const lines = [result.line];
  if (degradation) {
    const { failed_mode, fallback_mode, fallback_reason } = degradation;
    lines.push(`The ${failed_mode} mode failed (${fallback_reason}); ${fallback_mode} did it instead.`);
  }
  const fallback = degradation
    ? { fallback_used: true, ...degradation }
    : { fallback_used: false, fallback_reason: null, fallback_message: null, failed_mode: null, fallback_mode: null };
  const reason = degradation?.fallback_reason ?? warning?.code;
  return {
    output_state: {
      action: config.action,
      mode: config.mode,
      ...prompts,
      action_results: lines,
      memory_id,
      stored_memory,
      retrieved_memories,
      mcp_server_keys: [...SYSTEM_MCP_KEYS],
      execution_index,
      execution_status: isDegraded ? 'success_with_warning' : 'success',
      ...fallback,
      warnings: warning ? [warning] : [],
      ...result.evidence,
    },
    routing_state: {
      ...(config.route_key === '' ? {} : { route_key: config.route_key }),
      ...(degradation ? { fallback_used: true, fallback_reason: degradation.fallback_reason } : {}),
    },
    ref_id: memory_id ?? retrieved_memories[0]?.id ?? null,
    ...(reason === undefined ? {} : { degraded_reason: reason }),
  };
}

const ARTIFACT_KEYS = [
  'action',
  'action_prompt_template',
  'internal_action_prompt',
  'action_results',
  'additive_prompt',
  'inferred_prompt',
  'effective_prompt',
  'stored_memory',
  'retrieved_memories',
  'mcp_server_keys',
  'execution_status',
  'fallback_used',
  'fallback_reason',
  'fallback_message',
  'failed_mode',
  'fallback_mode',
] as const;
const OPTIONAL_KEYS = ['llm_guided_add', 'llm_guided_retrieve'] as const;

export function memoryArtifact({ output_state, routing_state }: Outcome): Json {
  const payload: Json = {};
  for (const key of ARTIFACT_KEYS) payload[key] = output_state[key] ?? null;
  for (const key of OPTIONAL_KEYS) if (output_state[key] !== undefined) payload[key] = output_state[key];
  return { ...payload, routing_state };
}
