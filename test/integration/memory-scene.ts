import type { Database } from '../../src/database/index.ts';
import { memoryNode } from '../../src/flowcharts/nodes/memory/index.ts';
import type { Outcome } from '../../src/flowcharts/nodes/node-type.ts';
import type { InputContext } from '../../src/flowcharts/runtime/input-context.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createLlm } from '../../src/llm/index.ts';
import { createMemory, findMemory, type Memory } from '../../src/memories/index.ts';
import { useLibrary } from '../data-integrity/library.ts';
import type { TestStore } from '../support/databases.ts';
import { nodeExecution, outcomeOf } from '../support/memory-execution.ts';
import { entry as contextEntry } from '../support/node-execution.ts';
import { type Script, useScriptedModel } from '../support/scripted-model.ts';

type Json = Record<string, unknown>;

export interface Run {
  ref_id?: number;
  input?: Partial<InputContext>;
  signal?: AbortSignal;
  vault_id?: string;
}

/** A vault with memories, and a model that says what the test wants; without a script nothing is configured. */
export async function memoryScene(makeStore: () => Promise<TestStore>, script?: Script) {
  const database = await useLibrary(makeStore);
  const model = script ? await useScriptedModel(script) : undefined;
  const config = { llm: null, llm_base_url: null, llm_api_key: null, llm_timeout_seconds: 10, ...model?.settings };
  const llm = createLlm({ config, environment: {}, log: silentLog });
  const executionOf = (config: Json, { ref_id, vault_id, input, signal }: Run = {}) =>
    nodeExecution(database, memoryNode, {
      node: { config: memoryNode.normaliseConfig(config).config, ref_id: ref_id ?? null },
      services: { llm },
      ...(vault_id ? { vault_id } : {}),
      ...(input ? { input } : {}),
      ...(signal ? { signal } : {}),
    });
  return {
    database,
    model,
    executionOf,
    add: (description: string, title: string | null = null) => remember(database, description, title),
    read: (id: number) => findMemory(database.queries, 'default', id) as Promise<Memory>,
    run: (config: Json, more?: Run): Promise<Outcome> => outcomeOf(executionOf(config, more), memoryNode),
    /** Code and message of a node that must fail. */
    failure: async (config: Json, more?: Run): Promise<{ name: string; code: string; message: string }> => {
      try {
        await outcomeOf(executionOf(config, more), memoryNode);
      } catch (error) {
        return error as { name: string; code: string; message: string };
      }
      throw new Error('the node did not fail');
    },
  };
}

/** An input whose only trigger said this. */
export function heard(answer: unknown): Partial<InputContext> {
  return { upstream_nodes: [contextEntry({ output_state: { answer } })] };
}

async function remember(database: Database, description: string, title: string | null): Promise<number> {
  const made = { vault_id: 'default', title, description };
  const { id } = await database.transaction((trx) => createMemory(trx, database.dialect, systemClock, made));
  return id;
}
