import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ChatflowScene, CONVERSATION_OPS, change, openChatflowScene } from '../support/chatflow-scene.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let staging: FakeFlowise;
  let production: FakeFlowise;
  let scene: ChatflowScene;
  let chatflow_id: string;

  beforeEach(async () => {
    store = await makeStore();
    staging = await startFakeFlowise({ credentials: [{ name: 'test key', credentialName: 'openAIApi' }] });
    production = await startFakeFlowise({ credentials: [{ name: 'live key', credentialName: 'openAIApi' }] });
    scene = await openChatflowScene(store, [staging, production]);
    ({ chatflow_id } = await change(scene, CONVERSATION_OPS, { name: 'Talk' }));
  });

  afterEach(async () => {
    await scene.close();
    await staging.close();
    await production.close();
    await store.remove();
  });

  const promote = (more: Record<string, unknown> = {}) =>
    scene.ask('chatflow.promote', { chatflow_id, to_server: 'second', ...more });
  const there = () => [...production.rows.chatflows.values()];
  const credentialThere = () =>
    JSON.parse(there()[0]?.flowData ?? '').nodes.find(({ id }: { id: string }) => id === 'chatOpenAI_0').data
      .credential;

  it('[FLR-promote] brings the chatflow over with the credential of that type there, not deployed', async () => {
    const promoted = await promote();
    expect(promoted).toMatchObject({ server: 'second', created: true, version: 1, name: 'Talk' });
    expect(there()).toMatchObject([{ name: 'Talk', deployed: false, isPublic: false }]);
    expect(credentialThere()).toBe([...production.rows.credentials.values()][0]?.id);
    expect(promoted.notes).toEqual(['Credential "test key" became "live key".']);
  });

  it('[FLR-promote] a dry run tells what would change and writes nothing, for agents too', async () => {
    const agent = { kind: 'agent' as const, role: 'editor' as const };
    const input = { chatflow_id, to_server: 'second', dry_run: true };
    const told = await scene.ask('chatflow.promote', input, agent);
    expect(told).toMatchObject({ dry_run: true, created: true, write_id: '', version: 0 });
    expect(told.diff_summary).toContain('chatOpenAI_0');
    expect(told.notes).toEqual(['Credential "test key" became "live key".']);
    expect(there()).toEqual([]);
    const restored = await scene.ask('chatflow.restore', { chatflow_id, version: '1', dry_run: true });
    expect(restored).toMatchObject({ dry_run: true, diff_summary: '(no changes)' });
    expect((await scene.ask('chatflow.sync')).writes).toEqual([]);
  });

  it('[FLR-promote] asks when several credentials fit, and takes the one that is named', async () => {
    const second = production.rows.addCredential({ name: 'other key', credentialName: 'openAIApi' });
    const error = await scene.refusalOf('chatflow.promote', { chatflow_id, to_server: 'second' });
    expect(error.code).toBe('CREDENTIAL_AMBIGUOUS');
    expect(error.details.choices).toHaveLength(2);
    expect(there()).toEqual([]);
    await promote({ credentials: { 'test key': 'other key' } });
    expect(credentialThere()).toBe(second.id);
  });

  it('[FLR-promote] says what to create when no credential fits', async () => {
    production.rows.credentials.clear();
    const error = await scene.refusalOf('chatflow.promote', { chatflow_id, to_server: 'second' });
    expect([error.code, error.details.errors[0].code, there().length]).toEqual([
      'PATCH_INVALID',
      'unknown_credential',
      0,
    ]);
  });

  it('[FLR-promote] replaces only what it is told to, and keeps what was there', async () => {
    const { chatflow_id: target_id } = await promote();
    expect((await scene.refusalOf('chatflow.promote', { chatflow_id, to_server: 'second' })).code).toBe('CONFLICT');
    await change(scene, [{ op_type: 'set_label', node_id: 'chatOpenAI_0', label: 'Newer' }], { chatflow_id });
    const again = await promote({ target_id });
    expect(again).toMatchObject({ created: false, chatflow_id: target_id, version: 2, summary: '1 label changed' });
    const restored = await scene.ask('chatflow.restore', { server: 'second', chatflow_id: target_id, version: '1' });
    expect(restored.summary).toBe('1 label changed');
  });

  it('[FLR-promote] a custom tool is stored there first, once', async () => {
    const tool = {
      op_type: 'create_tool',
      tool_ref: 'weather',
      name: 'weather',
      description: 'Tells the weather',
      schema: [{ property: 'city', type: 'string', description: 'Where', required: true }],
      func: 'return $city',
    };
    const node = {
      op_type: 'add_node',
      node_name: 'customTool',
      node_id: 'customTool_0',
      params: { selectedTool: 'flowright:tool:weather' },
    };
    const agent = [
      { op_type: 'add_node', node_name: 'chatOpenAI', node_id: 'chatOpenAI_0' },
      { op_type: 'add_node', node_name: 'bufferMemory', node_id: 'bufferMemory_0' },
      { op_type: 'add_node', node_name: 'toolAgent', node_id: 'toolAgent_0' },
      ...(
        [
          ['chatOpenAI', 'model'],
          ['bufferMemory', 'memory'],
          ['customTool', 'tools'],
        ] as const
      ).map(([source, target_anchor]) => ({
        op_type: 'connect',
        source_node_id: `${source}_0`,
        source_anchor: source,
        target_node_id: 'toolAgent_0',
        target_anchor,
      })),
      { op_type: 'bind_credential', node_id: 'chatOpenAI_0', credential_id: 'openAIApi' },
    ];
    const good = [tool, node, ...agent];
    const { payload_hash, tools_to_create } = await scene.ask('patch.compile', { ops: good });
    expect(tools_to_create).toMatchObject([{ name: 'weather', func: 'return $city' }]);
    const bad = [{ ...tool, func: 'return steal()' }, node, ...agent];
    const swapped = await scene.refusalOf('chatflow.apply', { name: 'Agent', ops: bad, payload_hash });
    expect([swapped.code, staging.rows.tools.size]).toEqual(['payload_mismatch', 0]);
    staging.fault('POST', '/chatflows', { kind: 'answer', status: 403, body: '{"message":"Forbidden"}', times: 1 });
    await scene.refusalOf('chatflow.apply', { name: 'Agent', ops: good, payload_hash });
    expect(staging.rows.tools.size).toBe(0);
    const made = await change(scene, good, { name: 'Agent' });
    expect(made.tools_created).toEqual(['weather']);
    expect(staging.rows.tools.size).toBe(1);
    const promoted = await scene.ask('chatflow.promote', { chatflow_id: made.chatflow_id, to_server: 'second' });
    expect(promoted.tools_created).toEqual(['weather']);
    const id = [...production.rows.tools.values()][0]?.id;
    expect(there()[0]?.flowData).toContain(`"selectedTool":"${id}"`);
    await scene.ask('chatflow.promote', { chatflow_id: made.chatflow_id, to_server: 'second', name: 'Agent two' });
    expect(production.rows.tools.size).toBe(1);
    const [stored] = [...production.rows.tools.values()];
    if (stored) stored.func = 'return steal()';
    const third = await scene.ask('chatflow.promote', {
      chatflow_id: made.chatflow_id,
      to_server: 'second',
      name: 'Three',
    });
    expect([third.tools_created, production.rows.tools.size]).toEqual([['weather'], 2]);
  });
});
