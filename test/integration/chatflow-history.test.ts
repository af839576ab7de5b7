import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ChatflowScene, CONVERSATION_OPS, change, openChatflowScene } from '../support/chatflow-scene.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: a flow as the canvas has it
type Canvas = any;
const SECRET = 'sk-proj-abcdefghijklmnopqrstuvwx0123456789';
const LABEL = [{ op_type: 'set_label', node_id: 'chatOpenAI_0', label: 'The model' }];

onEachDatabase((engine, makeStore) => {
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

  const make = async (): Promise<string> =>
    (await change(scene, CONVERSATION_OPS, { name: 'Talk', message: 'first' })).chatflow_id;
  const history = async (chatflow_id: string) => (await scene.ask('chatflow.history', { chatflow_id })).items;
  const edit = (id: string, alter: (flow: Canvas) => void) => fake.rows.editInCanvas(id, alter);

  it('[FLR-history] edits made in Flowise become versions, and what is unchanged does not', async () => {
    const id = await make();
    const other = fake.rows.addChatflow({ name: 'Theirs', flowData: { nodes: [], edges: [] } });
    edit(id, (flow) => {
      flow.nodes[0].data.inputs.temperature = 0.1;
    });
    const first = await scene.ask('chatflow.sync');
    expect(first.looked_at).toBe(2);
    expect(first.recorded).toMatchObject([
      { chatflow_id: expect.any(String), origin: expect.stringMatching(/edit|seen/) },
      { chatflow_id: expect.any(String), origin: expect.stringMatching(/edit|seen/) },
    ]);
    expect((await scene.ask('chatflow.sync')).recorded).toEqual([]);
    expect(await history(id)).toMatchObject([
      { version: 2, origin: 'edit', author: '', summary: '1 parameter changed' },
      { version: 1, origin: 'write', author: 'local', message: 'first' },
    ]);
    expect(await history(other.id)).toMatchObject([{ version: 1, origin: 'seen' }]);
  });

  it('[FLR-history] an edit that nobody synced is kept as a version when we write over a compile of it', async () => {
    const id = await make();
    edit(id, (flow) => {
      flow.nodes[1].data.inputs.memoryKey = 'theirs';
    });
    await change(scene, LABEL, { chatflow_id: id });
    expect((await history(id)).map(({ origin }: { origin: string }) => origin)).toEqual(['write', 'edit', 'write']);
  });

  it('[FLR-history] a chatflow that was removed is noted, and comes back with a new id that says so', async () => {
    const id = await make();
    fake.rows.chatflows.delete(id);
    expect((await scene.ask('chatflow.sync')).recorded).toMatchObject([{ origin: 'removed', version: 2 }]);
    expect((await scene.ask('chatflow.sync')).recorded).toEqual([]);
    const restored = await scene.ask('chatflow.restore', { chatflow_id: id, version: '1' });
    expect(restored).toMatchObject({ created: true, version: 1 });
    expect(restored.chatflow_id).not.toBe(id);
    expect(restored.notes.join(' ')).toContain('new id');
    expect([...fake.rows.chatflows.values()].map(({ name }) => name)).toEqual(['Talk']);
  });

  it('[FLR-history] a label finds its version, and outlives the retention', async () => {
    const id = await make();
    await scene.ask('chatflow.label', { chatflow_id: id, version: '1', label: 'good' });
    for (const label of ['a', 'b', 'c']) {
      await change(scene, [{ ...LABEL[0], label }], { chatflow_id: id });
    }
    const { sweepChatflows } = await import('../../src/chatflows/index.ts');
    await sweepChatflows(scene.app.services.database, scene.app.services.clock, 2);
    expect((await history(id)).map(({ version }: { version: number }) => version)).toEqual([4, 3, 1]);
    const { diff_summary } = await scene.ask('chatflow.diff', { chatflow_id: id, from: 'good', to: 'live' });
    expect(diff_summary).toContain('chatOpenAI_0');
    const restored = await scene.ask('chatflow.restore', { chatflow_id: id, version: 'good' });
    expect(restored.summary).toBe('1 label changed');
    expect((await scene.refusalOf('chatflow.restore', { chatflow_id: id, version: '2' })).code).toBe('NOT_FOUND');
  });

  it('[FLR-history] a diff tells that another output of a node is used', async () => {
    const id = await make();
    edit(id, (flow) => {
      flow.nodes[0].data.outputs = { output: 'other' };
    });
    const { diff } = await scene.ask('chatflow.diff', { chatflow_id: id });
    expect(diff.nodes_changed).toMatchObject([{ node_id: 'chatOpenAI_0', output: { before: null, after: 'other' } }]);
  });

  it('[FLR-history] a label names one version, and is not for agents', async () => {
    const id = await make();
    await change(scene, LABEL, { chatflow_id: id });
    await scene.ask('chatflow.label', { chatflow_id: id, version: '1', label: 'golden' });
    const again = { chatflow_id: id, version: '2', label: 'golden' };
    expect((await scene.refusalOf('chatflow.label', again)).code).toBe('CONFLICT');
    const agent = { kind: 'agent' as const, role: 'editor' as const };
    expect((await scene.refusalOf('chatflow.label', { ...again, label: 'mine' }, agent)).code).toBe(
      'approval_required',
    );
    await scene.ask('chatflow.label', { chatflow_id: id, version: '1', label: '' });
    expect(await scene.ask('chatflow.label', again)).toMatchObject({ version: { version: 2, label: 'golden' } });
  });

  it('[FLR-history] a restore tells of name and flags too, before it puts them back', async () => {
    const id = await make();
    Object.assign(fake.rows.chatflows.get(id) ?? {}, { name: 'Renamed', deployed: true });
    const told = await scene.ask('chatflow.restore', { chatflow_id: id, version: '1', dry_run: true });
    expect(told.name).toBe('Renamed');
    expect(told.diff_summary.split('\n')).toEqual(['name SET: "Renamed" -> "Talk"', 'deployed SET: true -> false']);
  });

  it('[FLR-history] a restore onto something else than was looked at is refused', async () => {
    const id = await make();
    const [{ flow_hash }] = await history(id);
    edit(id, (flow) => {
      flow.nodes[0].data.inputs.temperature = 0.3;
    });
    const error = await scene.refusalOf('chatflow.restore', { chatflow_id: id, version: '1', base_hash: flow_hash });
    expect([error.code, error.status, error.details.base_hash]).toEqual(['chatflow_conflict', 409, flow_hash]);
  });

  it('[FLR-chatflow-secrets] a key typed into a node is shown nowhere, stored sealed, and put back by a restore', async () => {
    const id = await make();
    edit(id, (flow) => {
      flow.nodes[0].data.inputs.basepath = 'http://127.0.0.1:1/v1';
      flow.nodes[0].data.inputs.baseOptions = JSON.stringify({ headers: { Authorization: `Bearer ${SECRET}` } });
      flow.nodes[1].data.inputs.sessionId = SECRET;
    });
    const answers = [
      await scene.ask('chatflow.sync'),
      await scene.ask('chatflow.get', { chatflow_id: id, include_flow: true }),
      await scene.ask('chatflow.history', { chatflow_id: id }),
      await scene.ask('chatflow.diff', { chatflow_id: id, from: '1', to: 'live' }),
      await scene.ask('chatflow.export', {}),
      await scene.ask('chatflow.validate', { chatflow_id: id }),
      await scene.ask('patch.compile', { chatflow_id: id, ops: LABEL }),
      await change(scene, LABEL, { chatflow_id: id }),
    ];
    expect(JSON.stringify(answers)).not.toContain(SECRET);
    expect(JSON.stringify(answers[1])).toContain('[secret]');
    const tables = ['chatflow_states', 'chatflow_versions', 'chatflow_writes', 'audit', 'events'] as const;
    for (const table of tables) {
      const rows = await scene.app.services.database.queries.selectFrom(table).selectAll().execute();
      expect(JSON.stringify(rows), table).not.toContain(SECRET);
    }
    await scene.ask('chatflow.restore', { chatflow_id: id, version: '2' });
    expect(fake.rows.chatflows.get(id)?.flowData).toContain(SECRET);
  });

  it('[FLR-chatflow-secrets] a hidden value is never written back', async () => {
    const id = await make();
    const ops = [{ op_type: 'set_param', node_id: 'bufferMemory_0', param_name: 'memoryKey', value: '[secret]' }];
    const compiled = await scene.ask('patch.compile', { chatflow_id: id, ops });
    expect(compiled.ok).toBe(false);
  });

  it('[FLR-chatflow-secrets] history that was sealed with another key says so', async () => {
    const id = await make();
    await scene.close();
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${store.home}/sealing.key`, Buffer.alloc(32, 7).toString('base64'));
    scene = await openChatflowScene(store, [fake]);
    expect((await scene.refusalOf('chatflow.diff', { chatflow_id: id })).code).toBe('SEALED_ELSEWHERE');
    expect((await scene.refusalOf('chatflow.restore', { chatflow_id: id, version: '1' })).code).toBe(
      'SEALED_ELSEWHERE',
    );
  });

  it('[FLR-chatflow-vaults] another vault sees neither servers nor history', async () => {
    const id = await make();
    const elsewhere = { vault_id: 'elsewhere' };
    await scene.ask('vault.create', { vault_id: 'elsewhere' });
    for (const [name, input] of [
      ['chatflow.list', {}],
      ['chatflow.get', { chatflow_id: id }],
      ['chatflow.history', { chatflow_id: id }],
      ['chatflow.restore', { chatflow_id: id, version: '1' }],
      ['patch.compile', { chatflow_id: id, ops: [] }],
    ] as const) {
      expect([name, (await scene.refusalOf(name, input, elsewhere)).code]).toEqual([name, 'FLOWISE_SERVER_UNKNOWN']);
    }
  });

  it.runIf(engine === 'sqlite')(
    '[FLR-history] the hub records edits at its interval, and one server down holds up no other',
    async () => {
      const id = await make();
      edit(id, (flow) => {
        flow.nodes[0].data.inputs.temperature = 0.4;
      });
      const down = await startFakeFlowise();
      await down.close();
      await scene.close();
      scene = await openChatflowScene(store, [fake, down]);
      const { syncAll } = await import('../../src/chatflows/keep-synced.ts');
      await syncAll(scene.app.services);
      expect(await history(id)).toHaveLength(2);
    },
  );
});
