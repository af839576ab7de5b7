import { describe, expect, it } from 'vitest';
import { compile, EMPTY_FLOW } from '../../src/flowise/compiler/compile.ts';
import type { PatchOp } from '../../src/flowise/compiler/ops.ts';
import { add, bind, link, put, recordedSchemas, unlink } from '../support/compiler-scene.ts';

const schemas = recordedSchemas();

/** Chains of a prompt, a model and an LLM chain each, side by side. */
function flowOf(count: number): string {
  const ops: PatchOp[] = [];
  for (let index = 0; index < count / 3; index++) {
    ops.push(
      add('promptTemplate', `prompt_${index}`, { template: '{a}' }),
      add('chatOpenAI', `model_${index}`),
      add('llmChain', `chain_${index}`),
      link(`prompt_${index}.promptTemplate`, `chain_${index}.prompt`),
      link(`model_${index}.chatOpenAI`, `chain_${index}.model`),
      bind(`model_${index}`),
    );
  }
  const { ok, flow_data_str, errors } = compile(EMPTY_FLOW, ops, schemas);
  if (!ok) throw new Error(JSON.stringify(errors[0]));
  return flow_data_str;
}

const CHANGE: PatchOp[] = [
  put('model_0', 'temperature', 0.1),
  unlink('prompt_1.promptTemplate', 'chain_1.prompt'),
  link('prompt_0.promptTemplate', 'chain_1.prompt'),
  { op_type: 'remove_node', node_id: 'chain_2' },
  add('calculator', 'calculator_0'),
];

/** Best of a few: what the machine does beside only adds. */
function best(text: string): number {
  const times = Array.from({ length: 3 }, () => {
    const start = performance.now();
    expect(compile(text, CHANGE, schemas).ok).toBe(true);
    return performance.now() - start;
  });
  return Math.min(...times);
}

describe('compiling large flows', () => {
  it('costs ten times as much for ten times the nodes, not a hundred times [FLR-compile-linear]', () => {
    const [small, large] = [flowOf(501), flowOf(5_001)];
    best(small);
    const [few, many] = [best(small), best(large)];
    console.log(`501 nodes ${few.toFixed(0)} ms, 5,001 nodes ${many.toFixed(0)} ms (${(many / few).toFixed(1)} ×)`);
    expect(many / few).toBeLessThan(30);
    expect(many).toBeLessThan(10_000);
  });
});
