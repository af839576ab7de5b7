import { attemptModes } from '../modes.ts';
import { type NodeExecution, NodeFailure, type NodeResult, type NodeType } from '../node-type.ts';
import { commitAdd, planAdd } from './add.ts';
import { migrateMemoryConfig, normaliseMemoryConfig, readMemoryConfig } from './config.ts';
import { MEMORY_INSPECTOR } from './inspector.ts';
import { addOutcome, memoryArtifact, retrieveOutcome, SYSTEM_MCP_KEYS } from './outcome.ts';
import { promptsFor } from './prompt.ts';
import { retrieve } from './retrieve.ts';

/** Keeps what a run learned for later runs, and finds it again. */
export const memoryNode: NodeType = {
  name: 'memory',
  binds: { ref: 'optional', mcp: true, attachments: true },
  normaliseConfig: normaliseMemoryConfig,
  migrateConfig: migrateMemoryConfig,
  inspector: MEMORY_INSPECTOR,
  execute,
  artifactPayload: memoryArtifact,
};

/** A node that adds gets a memory of its own when it is saved without one; one that retrieves looks through all. */
export function needsOwnMemory(config: Readonly<Record<string, unknown>>): boolean {
  return config.action === 'add';
}

/**
 * The modes are tried outside any transaction: models are slow and may fail. What they decide is written by `commit`,
 * on the memory as it is then, in the transaction that completes the node run.
 */
async function execute(execution: NodeExecution): Promise<NodeResult> {
  const config = readMemoryConfig(execution.node.config);
  refuseForeignServers(execution.node.config.mcp_server_keys);
  const prompts = promptsFor(config.action, config.additive_prompt, execution.input);
  const options = {
    mode: config.mode,
    retryCount: config.retry_count,
    fallbackEnabled: config.fallback_enabled,
    signal: execution.signal,
  };
  const told = { config, prompts, execution_index: execution.execution_index };
  if (config.action === 'retrieve') {
    const { value, degradation } = await attemptModes({
      ...options,
      attempt: (mode) => retrieve(execution, config, prompts, mode),
    });
    return { done: retrieveOutcome({ ...told, degradation }, value) };
  }
  const { value, degradation } = await attemptModes({
    ...options,
    attempt: (mode) => planAdd(execution, config, prompts, mode),
  });
  return {
    commit: async (trx) => addOutcome({ ...told, degradation }, await commitAdd(trx, execution, value), value),
  };
}

function refuseForeignServers(keys: unknown): void {
  if (keys === undefined || keys === null) return;
  const [own] = SYSTEM_MCP_KEYS;
  if (Array.isArray(keys) && keys.length === 1 && keys[0] === own) return;
  throw new NodeFailure(
    'mcp_server_keys_invalid',
    `A memory node works with ${own} and no other server. Leave mcp_server_keys out, or make it ["${own}"].`,
  );
}
