import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ChatflowScene, CONVERSATION_OPS, change, openChatflowScene } from '../support/chatflow-scene.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { checkCanvas, type FakeFlowise, recordedTemplates, startFakeFlowise } from '../support/fake-flowise/index.ts';

const TEMPERATURE = [{ op_type: 'set_param', node_id: 'chatOpenAI_0', param_name: 'temperature', value: 0.2 }];

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let fake: FakeFlowise;
  let scene: ChatflowScene;

  beforeEach(async () => {
    store = await makeStore();
    fake = await startFakeFlowise({ credentials: [{ name: 'our key', credentialName: 'openAIApi' }] });
    scene = await openChatflowScene(store, [fake]);
  });

  afterEach(async () => {
    await scene.close();
    await fake.close();
    await store.remove();
  });

  const only = () => [...fake.rows.chatflows.values()][0] as { id: string; name: string; flowData: string };
  const make = () => change(scene, CONVERSATION_OPS, { name: 'Talk' });
  const writes = () => fake.requests.count('POST', '/chatflows') + fake.requests.count('PUT', '/chatflows/:id');

  it('[FLR-chatflow-apply] a compiled change becomes a chatflow that the canvas can draw, and a version', async () => {
    const written = await make();
    expect(fake.rows.chatflows.size).toBe(1);
    expect(checkCanvas(only().flowData)).toEqual([]);
    expect(written).toMatchObject({ created: true, version: 1, name: 'Talk', chatflow_id: only().id, rebased: false });
    expect(JSON.parse(only().flowData).flowright.write_id).toBe(written.write_id);
    const { items } = await scene.ask('chatflow.history', { chatflow_id: only().id });
    expect(items).toMatchObject([{ version: 1, origin: 'write', flow_hash: written.flow_hash, node_count: 3 }]);
  });

  it('[FLR-chatflow-apply] an update keeps what was there, and restore puts it back', async () => {
    const { chatflow_id } = await make();
    const before = JSON.parse(only().flowData);
    await change(scene, TEMPERATURE, { chatflow_id, message: 'calmer' });
    const model = JSON.parse(only().flowData).nodes.find(({ id }: { id: string }) => id === 'chatOpenAI_0');
    expect(model.data.inputs.temperature).toBe(0.2);
    const restored = await scene.ask('chatflow.restore', { chatflow_id, version: '1' });
    expect(restored).toMatchObject({ created: false, version: 3, summary: '1 parameter changed' });
    const { flowright: _, ...after } = JSON.parse(only().flowData);
    const { flowright: __, ...wanted } = before;
    expect(after).toEqual(wanted);
  });

  it('[FLR-lost-update] an edit on the server in between: nothing is written, 409 with both hashes', async () => {
    const { chatflow_id, flow_hash } = await make();
    const compiled = await scene.ask('patch.compile', { chatflow_id, ops: TEMPERATURE });
    // biome-ignore lint/suspicious/noExplicitAny: a flow as the canvas has it
    fake.rows.editInCanvas(chatflow_id, (flow: any) => {
      flow.nodes[0].data.inputs.maxTokens = 50;
    });
    const sent = writes();
    const { base_hash, payload_hash } = compiled;
    const error = await scene.refusalOf('chatflow.apply', { chatflow_id, ops: TEMPERATURE, base_hash, payload_hash });
    expect(error).toMatchObject({ code: 'chatflow_conflict', status: 409 });
    expect(error.details.base_hash).toBe(flow_hash);
    expect(error.details.current_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(writes()).toBe(sent);
  });

  it('[FLR-lost-update] an edit in the moment between the last look and the write is seen by that look', async () => {
    const { chatflow_id } = await make();
    const { base_hash, payload_hash } = await scene.ask('patch.compile', { chatflow_id, ops: TEMPERATURE });
    let looks = 0;
    fake.fault('GET', '/chatflows/:id', {
      kind: 'none',
      times: 5,
      before: () => {
        looks += 1;
        if (looks !== 2) return;
        // biome-ignore lint/suspicious/noExplicitAny: a flow as the canvas has it
        fake.rows.editInCanvas(chatflow_id, (flow: any) => {
          flow.nodes[0].data.inputs.maxTokens = 50;
        });
      },
    });
    const sent = writes();
    const error = await scene.refusalOf('chatflow.apply', { chatflow_id, ops: TEMPERATURE, base_hash, payload_hash });
    expect([error?.code, writes()]).toEqual(['chatflow_conflict', sent]);
  });

  it('[FLR-rebase] a node that was only moved is no conflict, and stays where it was moved to', async () => {
    const { chatflow_id } = await make();
    const { base_hash, payload_hash } = await scene.ask('patch.compile', { chatflow_id, ops: TEMPERATURE });
    // biome-ignore lint/suspicious/noExplicitAny: a flow as the canvas has it
    fake.rows.editInCanvas(chatflow_id, (flow: any) => {
      flow.nodes[0].position = { x: 777, y: 888 };
      flow.viewport = { x: 1, y: 2, zoom: 0.7 };
    });
    const written = await scene.ask('chatflow.apply', { chatflow_id, ops: TEMPERATURE, base_hash, payload_hash });
    expect(written.rebased).toBe(true);
    const flow = JSON.parse(only().flowData);
    expect([flow.nodes[0].position, flow.viewport.zoom]).toEqual([{ x: 777, y: 888 }, 0.7]);
    expect(flow.nodes[0].data.inputs.temperature).toBe(0.2);
  });

  it('[FLR-settled-by-looking] a 500 that saved the row anyway is no failure, and leaves no second chatflow', async () => {
    fake.fault('POST', '/chatflows', { kind: 'answer_after', status: 500, body: '{"message":"boom"}', times: 1 });
    const written = await make();
    expect([fake.rows.chatflows.size, written.chatflow_id]).toEqual([1, only().id]);
    expect(fake.requests.count('POST', '/chatflows')).toBe(1);
  });

  it('[FLR-settled-by-looking] a 500 that saved nothing is told, and leaves nothing open', async () => {
    fake.fault('POST', '/chatflows', { kind: 'answer', status: 500, body: '{"message":"boom"}', times: 1 });
    const { payload_hash } = await scene.ask('patch.compile', { ops: CONVERSATION_OPS });
    const error = await scene.refusalOf('chatflow.apply', { name: 'Talk', ops: CONVERSATION_OPS, payload_hash });
    expect([error.code, fake.rows.chatflows.size]).toEqual(['FLOWISE_REFUSED', 0]);
    const { writes: open } = await scene.ask('chatflow.sync');
    expect(open).toEqual([]);
    expect(await make()).toMatchObject({ created: true });
  });

  it('[FLR-approval-required] an agent may compile and not apply, unless an admin says so', async () => {
    const agent = { kind: 'agent' as const, role: 'editor' as const };
    const { payload_hash } = await scene.ask('patch.compile', { ops: CONVERSATION_OPS }, agent);
    const input = { name: 'Talk', ops: CONVERSATION_OPS, payload_hash };
    const error = await scene.refusalOf('chatflow.apply', input, agent);
    expect([error.code, error.status, fake.rows.chatflows.size]).toEqual(['approval_required', 403, 0]);
  });

  it('[FLR-chatflow-apply] a graph of agentflow nodes becomes an agentflow, and a wrong credential hides no other mistake', async () => {
    const flow_data = recordedTemplates().find(({ type }) => type === 'AgentflowV2')?.flowData ?? '';
    const { payload_hash } = await scene.ask('patch.compile', { flow_data, allow_incomplete: true });
    await scene.ask('chatflow.apply', { name: 'Agents', flow_data, payload_hash, allow_incomplete: true });
    expect(only()).toMatchObject({ type: 'AGENTFLOW' });
    const ops = [
      { op_type: 'add_node', node_name: 'chatOpenAl', node_id: 'chatOpenAI_0' },
      { op_type: 'bind_credential', node_id: 'chatOpenAI_0', credential_id: 'our kay' },
    ];
    const { ok, errors } = await scene.ask('patch.compile', { ops });
    expect(ok).toBe(false);
    const told = errors.map(({ message }: { message: string }) => message).join(' ');
    expect(told).toContain('did you mean our key');
    expect(told).toContain('did you mean chatOpenAI');
  });

  it('[FLR-payload-bound] what compiles to something else than was approved is not written', async () => {
    const { payload_hash } = await scene.ask('patch.compile', { ops: CONVERSATION_OPS });
    const other = CONVERSATION_OPS.filter(({ op_type }) => op_type !== 'bind_credential');
    const error = await scene.refusalOf('chatflow.apply', { name: 'Talk', ops: other, payload_hash });
    expect(['payload_mismatch', 'PATCH_INVALID']).toContain(error.code);
    expect(fake.rows.chatflows.size).toBe(0);
  });

  it('[FLR-idempotent-write] the same key is the same write', async () => {
    const { payload_hash } = await scene.ask('patch.compile', { ops: CONVERSATION_OPS });
    const input = { name: 'Talk', ops: CONVERSATION_OPS, payload_hash, idempotency_key: 'once' };
    const first = await scene.ask('chatflow.apply', input);
    const second = await scene.ask('chatflow.apply', input);
    expect(second.chatflow_id).toBe(first.chatflow_id);
    expect(fake.rows.chatflows.size).toBe(1);
  });
});
