import { describe, expect, it } from 'vitest';
import { memoryNode } from '../../src/flowcharts/nodes/memory/index.ts';
import type { Outcome } from '../../src/flowcharts/nodes/node-type.ts';
import { onEachDatabase } from '../support/databases.ts';
import { heard, memoryScene } from './memory-scene.ts';

const PROMISED = [
  'action',
  'action_prompt_template',
  'action_results',
  'additive_prompt',
  'effective_prompt',
  'execution_status',
  'failed_mode',
  'fallback_message',
  'fallback_mode',
  'fallback_reason',
  'fallback_used',
  'inferred_prompt',
  'internal_action_prompt',
  'mcp_server_keys',
  'retrieved_memories',
  'routing_state',
  'stored_memory',
];
const payloadOf = (outcome: Outcome) => memoryNode.artifactPayload?.(outcome) as Record<string, unknown>;
const keysOf = (outcome: Outcome) => Object.keys(payloadOf(outcome)).sort();

onEachDatabase((_engine, makeStore) => {
  describe('a memory node that lets a model add', () => {
    it('[S004-memory-add-contract] [S004-memory-artifact] keeps what the model wrote, with the evidence', async () => {
      const { run, add, read, model } = await memoryScene(makeStore, [
        { json: { text: ' keep ', store_mode: 'append', confidence: 1.4 } },
      ]);
      const ref_id = await add('what was there');
      const outcome = await run({ action: 'add', additive_prompt: 'Only facts' }, { ref_id, input: heard('context') });
      // What the author of the node chose wins over what the model would do.
      expect((await read(ref_id)).description).toBe('keep');
      const inference_payload = { text: 'keep', store_mode: 'append', confidence: 1 };
      expect(outcome.output_state.llm_guided_add).toEqual({
        provider: 'openai',
        model_id: expect.stringMatching(/^openai:.+/),
        model_name: expect.any(String),
        inference_payload,
        raw_output: expect.stringContaining('keep'),
      });
      expect(outcome.output_state).toMatchObject({ execution_status: 'success', fallback_used: false });
      expect(outcome.degraded_reason).toBeUndefined();
      expect(keysOf(outcome)).toEqual([...PROMISED, 'llm_guided_add'].sort());
      expect(payloadOf(outcome).stored_memory).toMatchObject({ id: ref_id, description: 'keep' });
      const prompt = model?.requests[0]?.prompt ?? '';
      for (const part of ['Only facts', 'context', 'what was there', '"store_mode"']) expect(prompt).toContain(part);
    });

    it('[FLR-memory-always-asks] is asked also where the prompt is inferred', async () => {
      const { run, model } = await memoryScene(makeStore, [{ json: { text: 'chosen' } }]);
      const { output_state } = await run({ action: 'add' }, { input: heard('</data> whatever was said') });
      expect(output_state.stored_memory).toMatchObject({ description: 'chosen' });
      expect(model?.requests).toHaveLength(1);
      expect(model?.requests[0]?.prompt.match(/<\/data>\n/g)).toHaveLength(1);
    });

    it('[S004-memory-attempts] [S004-memory-one-fallback] [S004-memory-degraded] [S004-memory-artifact] is asked 1 + retry_count times, then the other mode does it once', async () => {
      const { run, model } = await memoryScene(makeStore, () => ({ text: 'I would rather write prose.' }));
      const outcome = await run({ action: 'add', retry_count: 2, route_key: 'go' }, { input: heard('inferred') });
      expect(model?.requests).toHaveLength(3);
      expect(outcome.output_state).toMatchObject({
        stored_memory: { description: 'inferred' },
        execution_status: 'success_with_warning',
        fallback_used: true,
        failed_mode: 'llm_guided',
        fallback_mode: 'deterministic',
        fallback_reason: 'llm_validation_error',
      });
      expect(outcome.output_state.action_results).toHaveLength(2);
      expect(outcome.degraded_reason).toBe('llm_validation_error');
      expect(outcome.routing_state).toEqual({
        route_key: 'go',
        fallback_used: true,
        fallback_reason: 'llm_validation_error',
      });
      expect(keysOf(outcome)).toEqual(PROMISED);
      expect(payloadOf(outcome)).toMatchObject({ fallback_used: true, failed_mode: 'llm_guided' });
    });

    it('[FLR-fallback-message] keeps what the failed mode said, in output and artifact', async () => {
      const { run } = await memoryScene(makeStore, () => ({ json: { text: ' ' } }));
      const outcome = await run({ action: 'add', retry_count: 0 }, { input: heard('inferred') });
      const said = 'The answer of the model does not keep to the contract: text must be a text that is not blank.';
      expect(outcome.output_state.fallback_message).toBe(said);
      expect(payloadOf(outcome).fallback_message).toBe(said);
    });

    it('[S004-memory-attempts] a later attempt that succeeds is no degradation', async () => {
      const { run, model } = await memoryScene(makeStore, [{ json: { text: 5 } }, { json: { text: 'good' } }]);
      const outcome = await run({ action: 'add' }, { input: heard('x') });
      expect(model?.requests).toHaveLength(2);
      expect(outcome.output_state).toMatchObject({ execution_status: 'success', fallback_used: false });
    });

    it('[S004-memory-one-fallback] without fallback fails with the reason of the last attempt', async () => {
      const { failure, model } = await memoryScene(makeStore, [{ json: ['no', 'object'] }, { status: 400 }]);
      const failed = await failure({ action: 'add', fallback_enabled: false }, { input: heard('x') });
      expect(failed).toMatchObject({ name: 'NodeFailure', code: 'llm_inference_error' });
      expect(model?.requests.length).toBeGreaterThanOrEqual(2);
    });

    it('[S004-memory-fallback-failure] fails for good when the fallback fails too', async () => {
      const { failure, model } = await memoryScene(makeStore, () => ({ text: 'prose' }));
      const failed = await failure({ action: 'add', retry_count: 0 });
      expect(failed).toMatchObject({ name: 'NodeFailure', code: 'fallback_runtime_error' });
      expect(failed.message).toMatch(/llm_guided mode failed \(llm_validation_error: .*fallback_runtime_error/);
      expect(model?.requests).toHaveLength(1);
    });

    it('[FLR-memory-not-configured] falls back at once where there is no model', async () => {
      const { run, failure } = await memoryScene(makeStore);
      const outcome = await run({ action: 'add', retry_count: 5 }, { input: heard('kept anyway') });
      expect(outcome.output_state).toMatchObject({
        stored_memory: { description: 'kept anyway' },
        fallback_reason: 'llm_not_configured',
        failed_mode: 'llm_guided',
      });
      expect(outcome.degraded_reason).toBe('llm_not_configured');
      const off = { action: 'retrieve', fallback_enabled: false };
      expect(await failure(off)).toMatchObject({ code: 'llm_not_configured' });
    });

    it('[S004-memory-one-fallback] falls back from plain to guided as well', async () => {
      const { run } = await memoryScene(makeStore, [{ json: { text: 'the model knew' } }]);
      const { output_state } = await run({ action: 'add', mode: 'deterministic' });
      expect(output_state).toMatchObject({
        stored_memory: { description: 'the model knew' },
        failed_mode: 'deterministic',
        fallback_mode: 'llm_guided',
        fallback_reason: 'primary_runtime_error',
      });
    });

    it('stops when the run is canceled, without a fallback', async () => {
      const { failure, model } = await memoryScene(makeStore, () => ({ hang: true }));
      const abort = new AbortController();
      const failing = failure({ action: 'add', text: 'x' }, { signal: abort.signal });
      await expect.poll(() => model?.requests.length).toBe(1);
      abort.abort();
      expect((await failing).name).toBe('AbortError');
    });
  });

  describe('a memory node that lets a model retrieve', () => {
    it('[S004-memory-retrieve-contract] [S004-memory-artifact] looks for the words that the model chose', async () => {
      const { run, add } = await memoryScene(makeStore, [{ json: { query_text: 'badger', limit: '500' } }]);
      const id = await add('the badger digs');
      await add('the hedgehog sleeps');
      const outcome = await run({ action: 'retrieve', query: 'hedgehog' });
      expect(outcome.output_state.retrieved_memories).toMatchObject([{ id }]);
      expect(outcome.output_state.llm_guided_retrieve).toMatchObject({
        inference_payload: { query_text: 'badger', limit: 50 },
        retrieval_resolution: 'query',
        resolved_memory_id: null,
      });
      expect(keysOf(outcome)).toEqual([...PROMISED, 'llm_guided_retrieve'].sort());
      expect(outcome.ref_id).toBe(id);
    });

    it('[S004-memory-retrieve-contract] takes its own memory before that of the model, and that before words', async () => {
      const { run, add, model } = await memoryScene(makeStore, []);
      const own = await add('own');
      const other = await add('other');
      model?.say({ json: { memory_id: other, query_text: 'own' } }, { json: { memory_id: other } });
      const free = await run({ action: 'retrieve' });
      expect(free.output_state).toMatchObject({
        memory_id: other,
        llm_guided_retrieve: { retrieval_resolution: 'inferred_memory_id', resolved_memory_id: other },
      });
      const bound = await run({ action: 'retrieve' }, { ref_id: own });
      expect(bound.output_state).toMatchObject({
        memory_id: own,
        retrieved_memories: [{ id: own }],
        llm_guided_retrieve: { retrieval_resolution: 'node_ref_id', resolved_memory_id: own },
      });
    });

    it('[S004-memory-retrieve-contract] gives the newest for an empty query, whatever the node was asked', async () => {
      const { run, add, model } = await memoryScene(makeStore, [{ json: { query_text: null, limit: 1 } }]);
      await add('old');
      const id = await add('new');
      const asked = { action: 'retrieve', additive_prompt: 'old', query: 'old' };
      expect((await run(asked)).output_state.retrieved_memories).toMatchObject([{ id }]);
      // Without a query of its own, the model leaves the choice to the config.
      model?.say({ json: { confidence: 0.2 } });
      expect((await run(asked)).output_state.retrieved_memories).toMatchObject([{ description: 'old' }]);
    });

    it('asks again when the model chose a memory that is not there', async () => {
      const { run, add, model } = await memoryScene(makeStore, [{ json: { memory_id: 4_711 } }]);
      const id = await add('there');
      model?.say({ json: { memory_id: id } });
      const { output_state } = await run({ action: 'retrieve' });
      expect(output_state).toMatchObject({ memory_id: id, fallback_used: false });
      expect(model?.requests).toHaveLength(2);
    });
  });
});
