import { describe, expect, it } from 'vitest';
import { memoryNode } from '../../src/flowcharts/nodes/memory/index.ts';
import type { Outcome } from '../../src/flowcharts/nodes/node-type.ts';
import { makeVault } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';
import { heard, memoryScene } from './memory-scene.ts';

const foundIn = ({ output_state }: Outcome) =>
  (output_state.retrieved_memories as { description: string }[]).map(({ description }) => description);
const PLAIN = { mode: 'deterministic' };

onEachDatabase((_engine, makeStore) => {
  describe('a memory node that adds', () => {
    it('[FLR-memory-store-modes] appends after a blank line, or replaces', async () => {
      const { add, read, run } = await memoryScene(makeStore);
      const ref_id = await add('a');
      const appended = await run({ action: 'add', ...PLAIN, store_mode: 'append', text: 'b' }, { ref_id });
      expect(appended.output_state.stored_memory).toMatchObject({ id: ref_id, description: 'a\n\nb' });
      expect(appended.ref_id).toBe(ref_id);
      expect(appended.degraded_reason).toBeUndefined();
      await run({ action: 'add', ...PLAIN, text: 'b' }, { ref_id });
      expect((await read(ref_id)).description).toBe('b');
      const empty = await add('');
      await run({ action: 'add', ...PLAIN, store_mode: 'append', text: 'c' }, { ref_id: empty });
      expect((await read(empty)).description).toBe('c');
    });

    it('makes a memory where it has none, and it is found again', async () => {
      const { read, run } = await memoryScene(makeStore);
      const { output_state, ref_id } = await run({ action: 'add', ...PLAIN, text: 'hedgehogs hibernate' });
      expect(output_state.memory_id).toBe(ref_id);
      expect((await read(ref_id as number)).description).toBe('hedgehogs hibernate');
      expect(foundIn(await run({ action: 'retrieve', ...PLAIN, query: 'hedgehogs' }))).toEqual(['hedgehogs hibernate']);
    });

    it('takes its text from a path, the config, or what it was asked', async () => {
      const { run } = await memoryScene(makeStore);
      const stored = async (config: Record<string, unknown>, answer: unknown) => {
        const { output_state } = await run({ action: 'add', ...PLAIN, ...config }, { input: heard(answer) });
        return (output_state.stored_memory as { description: string }).description;
      };
      const text_source_path = 'latest_upstream.output_state.answer';
      expect(await stored({ text: 'config', text_source_path }, ' found ')).toBe('found');
      expect(await stored({ text: 'config', text_source_path }, { b: [1] })).toBe('{"b":[1]}');
      expect(await stored({ text: 'config', text_source_path: 'no.where' }, 'x')).toBe('config');
      expect(await stored({ additive_prompt: 'asked' }, 'x')).toBe('asked');
      expect(await stored({}, 'inferred')).toBe('inferred');
      expect(await stored({ text_source_path }, 'nul \u0000')).toBe('nul \ufffd');
    });

    it('[FLR-memory-commit] writes on the memory as it is when the node run is committed', async () => {
      const { add, read, database, executionOf } = await memoryScene(makeStore);
      const ref_id = await add('a');
      const config = { action: 'add', ...PLAIN, store_mode: 'append' };
      const first = await memoryNode.execute(executionOf({ ...config, text: 'b' }, { ref_id }));
      const second = await memoryNode.execute(executionOf({ ...config, text: 'c' }, { ref_id }));
      expect((await read(ref_id)).description).toBe('a');
      for (const result of [second, first]) {
        if (!('commit' in result)) throw new Error('nothing to commit');
        await database.transaction((trx) => result.commit(trx));
      }
      expect((await read(ref_id)).description).toBe('a\n\nc\n\nb');
      if (!('commit' in first)) throw new Error('nothing to commit');
      const undone = database.transaction(async (trx) => {
        await first.commit(trx);
        throw new Error('the run was canceled');
      });
      await expect(undone).rejects.toThrow('the run was canceled');
      expect((await read(ref_id)).description).toBe('a\n\nc\n\nb');
    });

    it('[FLR-memory-commit] keeps both of two that write at the same moment', async () => {
      const { add, read, run } = await memoryScene(makeStore);
      const ref_id = await add('');
      const texts = ['a', 'b', 'c', 'd', 'e'];
      await Promise.all(texts.map((text) => run({ action: 'add', ...PLAIN, store_mode: 'append', text }, { ref_id })));
      expect((await read(ref_id)).description.split('\n\n').sort()).toEqual(texts);
    });

    it('fails where there is nothing to keep, no memory to keep it in, or no room', async () => {
      const { add, failure } = await memoryScene(makeStore);
      const plain = { action: 'add', ...PLAIN, fallback_enabled: false };
      expect(await failure(plain)).toMatchObject({ name: 'NodeFailure', code: 'primary_runtime_error' });
      expect(await failure({ ...plain, text: 'x' }, { ref_id: 999 })).toMatchObject({ code: 'ref_missing' });
      const ref_id = await add('x'.repeat(65_000));
      const long = { ...plain, text: 'y'.repeat(1_000), store_mode: 'append' };
      expect(await failure(long, { ref_id })).toMatchObject({ code: 'primary_invalid_result' });
    });
  });

  describe('a memory node that retrieves', () => {
    it('[FLR-memory-lookup] gives its own memory and no other', async () => {
      const { add, run, failure } = await memoryScene(makeStore);
      const own = await add('own');
      await add('something else');
      const outcome = await run({ action: 'retrieve', ...PLAIN, query: 'else' }, { ref_id: own });
      expect(foundIn(outcome)).toEqual(['own']);
      expect([outcome.output_state.memory_id, outcome.ref_id]).toEqual([own, own]);
      expect(await failure({ action: 'retrieve', ...PLAIN }, { ref_id: 999 })).toMatchObject({ code: 'ref_missing' });
    });

    it('[FLR-memory-lookup] searches the vault by rank, and gives the newest where nothing is asked', async () => {
      const { add, run, database } = await memoryScene(makeStore);
      await add('budget of the year');
      await add('notes', 'Budget');
      await add('percent % and under_score');
      await makeVault(database, 'other');
      const retrieve = { action: 'retrieve', ...PLAIN };
      expect(foundIn(await run({ ...retrieve, query: 'budget' }))).toEqual(['notes', 'budget of the year']);
      expect(foundIn(await run({ ...retrieve, query: 'budget', limit: 1 }))).toEqual(['notes']);
      expect(foundIn(await run({ ...retrieve, query: '%' }))).toEqual([]);
      expect(foundIn(await run({ ...retrieve, additive_prompt: 'What is the budget for hedgehogs?' }))).toHaveLength(2);
      const query_source_path = 'latest_upstream.output_state.answer';
      const asked = await run({ ...retrieve, query: 'budget', query_source_path }, { input: heard('percent') });
      expect(foundIn(asked)).toEqual(['percent % and under_score']);
      expect(foundIn(await run({ ...retrieve, limit: 2 }))).toEqual(['percent % and under_score', 'notes']);
      expect(foundIn(await run(retrieve, { vault_id: 'other' }))).toEqual([]);
    });

    it('[FLR-memory-empty-retrieve] goes on with a warning when it finds nothing', async () => {
      const { run } = await memoryScene(makeStore);
      const outcome = await run({ action: 'retrieve', ...PLAIN, query: 'nothing' });
      expect(outcome.output_state).toMatchObject({
        retrieved_memories: [],
        execution_status: 'success_with_warning',
        fallback_used: false,
        fallback_reason: null,
        warnings: [{ code: 'primary_empty_result' }],
      });
      expect([outcome.ref_id, outcome.degraded_reason]).toEqual([null, 'primary_empty_result']);
    });

    it('[FLR-memory-empty-retrieve] falls back, then fails, when a result is required', async () => {
      const script = [{ json: { query_text: 'still nothing' } }];
      const { run, failure, model, add } = await memoryScene(makeStore, script);
      const required = { action: 'retrieve', ...PLAIN, query: 'nothing', require_result: true };
      const failed = await failure(required);
      expect(failed.code).toBe('fallback_runtime_error');
      expect(failed.message).toContain('primary_empty_result');
      expect(model?.requests).toHaveLength(1);
      await add('at last');
      model?.say({ json: { query_text: '' } });
      const found = await run(required);
      expect(foundIn(found)).toEqual(['at last']);
      expect(found.output_state).toMatchObject({
        fallback_reason: 'primary_empty_result',
        failed_mode: 'deterministic',
        fallback_mode: 'llm_guided',
      });
      expect(await failure({ ...required, fallback_enabled: false })).toMatchObject({ code: 'primary_empty_result' });
    });
  });

  it('[S004-memory-system-mcp] an explicit set of other servers is refused before anything is done', async () => {
    const { run, failure } = await memoryScene(makeStore);
    const add = { action: 'add', ...PLAIN, text: 'x' };
    for (const mcp_server_keys of [['github'], ['llmctl-mcp', 'github'], [], 'llmctl-mcp']) {
      expect(await failure({ ...add, mcp_server_keys })).toMatchObject({ code: 'mcp_server_keys_invalid' });
    }
    const { output_state } = await run({ ...add, mcp_server_keys: ['llmctl-mcp'] });
    expect(output_state.mcp_server_keys).toEqual(['llmctl-mcp']);
    expect((await run(add)).output_state.mcp_server_keys).toEqual(['llmctl-mcp']);
  });

  it('hands its route key on', async () => {
    const { run } = await memoryScene(makeStore);
    const { routing_state } = await run({ action: 'add', ...PLAIN, text: 'x', route_key: 'next' });
    expect(routing_state).toEqual({ route_key: 'next' });
  });
});
