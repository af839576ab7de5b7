import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChatflowScene, CONVERSATION_OPS, change, openChatflowScene } from '../support/chatflow-scene.ts';
import { onFirstDatabase, type TestStore } from '../support/databases.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';
import { type Apply, applyInProgram, applyKilledAt, type DeathPoint, killedAt } from './chatflow-kill.ts';

// biome-ignore lint/suspicious/noExplicitAny: a flow as the canvas has it
type Canvas = any;
type Version = { version: number; origin: string; author: string; flow_hash: string; message: string };

/** A flow whose tool is stored first: there are requests between the intent and the chatflow. */
const WITH_TOOL = [
  {
    op_type: 'create_tool',
    tool_ref: 'weather',
    name: 'weather',
    description: 'Tells the weather',
    schema: [{ property: 'city', type: 'string', description: 'Where', required: true }],
    func: 'return $city',
  },
  {
    op_type: 'add_node',
    node_name: 'customTool',
    node_id: 'customTool_0',
    params: { selectedTool: 'flowright:tool:weather' },
  },
  { op_type: 'add_node', node_name: 'chatOpenAI', node_id: 'chatOpenAI_0' },
  { op_type: 'add_node', node_name: 'bufferMemory', node_id: 'bufferMemory_0' },
  { op_type: 'add_node', node_name: 'toolAgent', node_id: 'toolAgent_0' },
  ...[
    ['chatOpenAI', 'model'],
    ['bufferMemory', 'memory'],
    ['customTool', 'tools'],
  ].map(([source, target_anchor]) => ({
    op_type: 'connect',
    source_node_id: `${source}_0`,
    source_anchor: source,
    target_node_id: 'toolAgent_0',
    target_anchor,
  })),
  { op_type: 'bind_credential', node_id: 'chatOpenAI_0', credential_id: 'openAIApi' },
];
const TEMPERATURE = [{ op_type: 'set_param', node_id: 'chatOpenAI_0', param_name: 'temperature', value: 0.2 }];

const POST = { method: 'POST', route: '/chatflows' };
const PUT = { method: 'PUT', route: '/chatflows/:id' };
const GET = { method: 'GET', route: '/chatflows/:id' };
const MAKING: DeathPoint[] = [
  { name: 'before anything was sent', method: 'GET', route: '/tools', after: 1, kind: 'hang', arrived: false },
  { name: 'after its tool was stored', method: 'POST', route: '/tools', kind: 'hang_after', arrived: false },
  { name: 'before it took effect', ...POST, kind: 'hang', arrived: false },
  { name: 'before the answer', ...POST, kind: 'hang_after', arrived: true },
  { name: 'before the version was written', ...GET, kind: 'hang', arrived: true },
];
const CHANGING: DeathPoint[] = [
  { name: 'before anything was sent', ...GET, after: 1, kind: 'hang', arrived: false },
  { name: 'before it took effect', ...PUT, kind: 'hang', arrived: false },
  { name: 'before the answer', ...PUT, kind: 'hang_after', arrived: true },
  { name: 'before the version was written', ...GET, after: 2, kind: 'hang', arrived: true },
];

/** Programs are dear to start: each point is met once, by turns looked for and repeated, unless all are asked for. */
function turns(points: DeathPoint[], how: 'looked for' | 'repeated'): DeathPoint[] {
  const all = process.env.CRASH_STEPS === 'all';
  return points.filter((_, at) => all || (at % 2 === 0) === (how === 'looked for'));
}

onFirstDatabase((_engine, makeStore) => {
  let store: TestStore;
  let fake: FakeFlowise;
  let scene: ChatflowScene;
  /** Time that has passed for whoever looks afterwards. */
  let ahead = 0;

  beforeEach(async () => {
    store = await makeStore();
    fake = await startFakeFlowise({ credentials: [{ name: 'our key', credentialName: 'openAIApi' }] });
    ahead = 0;
    scene = await openChatflowScene(store, [fake], { clock: { now: () => new Date(Date.now() + ahead) } });
  });

  afterEach(async () => {
    await scene.close();
    await fake.close();
    await store.remove();
  });

  /** What was sent and is not there may still arrive: until its time is over, nobody says that it is lost. */
  const waitedFor = async (point: DeathPoint, asked: () => Promise<{ code: string }>): Promise<void> => {
    if (point.name !== 'before it took effect') return;
    expect((await scene.ask('chatflow.sync')).writes).toMatchObject([{ outcome: 'open' }]);
    expect((await asked()).code).toBe('CONFLICT');
    ahead = 70_000;
  };

  const rows = () => [...fake.rows.chatflows.values()];
  const rowOf = (id: string) => fake.rows.chatflows.get(id) as { flowData: string };
  const historyOf = async (chatflow_id: string): Promise<Version[]> =>
    (await scene.ask('chatflow.history', { chatflow_id })).items;
  const originsOf = async (id: string) => (await historyOf(id)).map(({ origin }) => origin);
  const openWrites = async () =>
    scene.app.services.database.queries
      .selectFrom('chatflow_writes')
      .select(['write_id', 'plan_sealed'])
      .where((e) => e.or([e('status', '=', 'intended'), e('plan_sealed', '!=', '')]))
      .execute();
  const meaning = (text: string) => {
    const { flowright: _, ...flow } = JSON.parse(text);
    return flow;
  };
  const compiled = async (input: { chatflow_id?: string; ops: unknown[] }): Promise<Apply> => {
    const { payload_hash, base_hash } = await scene.ask('patch.compile', input);
    return { ...input, payload_hash, ...(base_hash ? { base_hash } : {}) };
  };
  /** A chatflow that somebody edited since we last saw it: only the write itself can keep that edit. */
  const edited = async (name: string): Promise<{ id: string; text: string }> => {
    const { chatflow_id: id } = await change(scene, CONVERSATION_OPS, { name });
    fake.rows.editInCanvas(id, (flow: Canvas) => {
      flow.nodes[1].data.inputs.memoryKey = `edited in ${name}`;
    });
    return { id, text: rowOf(id).flowData };
  };

  describe('[FLR-crash-chatflow] a program that makes a chatflow, killed', () => {
    it.each(turns(MAKING, 'looked for'))('$name: a look settles it', async (point) => {
      const plan = await compiled({ ops: WITH_TOOL });
      await applyKilledAt(store, fake, { ...plan, name: 'Agent', message: 'first' }, point);
      expect(await openWrites()).toHaveLength(1);
      await waitedFor(point, () => scene.refusalOf('chatflow.apply', { ...plan, name: 'Agent' }));
      const { writes } = await scene.ask('chatflow.sync');
      expect(writes).toMatchObject([{ outcome: point.arrived ? 'written' : 'absent' }]);
      expect(rows().map(({ name }) => name)).toEqual(point.arrived ? ['Agent'] : []);
      for (const { id } of rows()) {
        expect(await historyOf(id)).toMatchObject([{ version: 1, origin: 'write', author: 'local', message: 'first' }]);
      }
      expect([(await scene.ask('chatflow.sync')).writes, await openWrites()]).toEqual([[], []]);
    });

    it.each(turns(MAKING, 'repeated'))('$name: the same command makes it once', async (point) => {
      const input = { ...(await compiled({ ops: WITH_TOOL })), name: 'Agent' };
      await applyKilledAt(store, fake, input, point);
      await waitedFor(point, () => scene.refusalOf('chatflow.apply', input));
      const posted = fake.requests.count('POST', '/chatflows');
      const { chatflow_id, version, created } = await scene.ask('chatflow.apply', input);
      expect(rows()).toMatchObject([{ id: chatflow_id, name: 'Agent' }]);
      expect([version, created, await originsOf(chatflow_id)]).toEqual([1, true, ['write']]);
      expect(fake.requests.count('POST', '/chatflows') - posted).toBe(point.arrived ? 0 : 1);
      expect([fake.rows.tools.size, await openWrites()]).toEqual([1, []]);
    });
  });

  describe('[FLR-crash-chatflow] a program that changes a chatflow, killed', () => {
    it.each(turns(CHANGING, 'looked for'))(
      '$name: a look settles it, and what was there can be put back',
      async (point) => {
        const { id, text } = await edited('Looked for');
        const plan = await compiled({ chatflow_id: id, ops: TEMPERATURE });
        await applyKilledAt(store, fake, { ...plan, message: 'calmer' }, point);
        await waitedFor(point, () => scene.refusalOf('chatflow.apply', plan));
        const { writes } = await scene.ask('chatflow.sync');
        expect(writes).toMatchObject([{ chatflow_id: id, outcome: point.arrived ? 'written' : 'absent' }]);
        expect(rowOf(id).flowData === text).toBe(!point.arrived);
        const history = await historyOf(id);
        const told = history.map(({ origin, author, message }) => [origin, author, message]);
        expect(told).toEqual([
          ...(point.arrived ? [['write', 'local', 'calmer']] : []),
          ['edit', '', ''],
          ['write', 'local', ''],
        ]);
        expect(history.find(({ origin }) => origin === 'edit')?.flow_hash).toBe(plan.base_hash);
        expect([rows().length, (await scene.ask('chatflow.sync')).recorded, await openWrites()]).toEqual([1, [], []]);
        await scene.ask('chatflow.restore', { chatflow_id: id, version: '2' });
        expect(meaning(rowOf(id).flowData)).toEqual(meaning(text));
      },
    );

    it.each(turns(CHANGING, 'repeated'))('$name: the same command changes it once', async (point) => {
      const { id } = await edited('Repeated');
      const plan = await compiled({ chatflow_id: id, ops: TEMPERATURE });
      await applyKilledAt(store, fake, plan, point);
      await waitedFor(point, () => scene.refusalOf('chatflow.apply', plan));
      const put = fake.requests.count('PUT', '/chatflows/:id');
      const written = await scene.ask('chatflow.apply', plan);
      expect(written).toMatchObject({ chatflow_id: id, created: false, version: 3, name: 'Repeated' });
      expect(fake.requests.count('PUT', '/chatflows/:id') - put).toBe(point.arrived ? 0 : 1);
      const flow = JSON.parse(rowOf(id).flowData);
      expect([flow.flowright.write_id, flow.nodes[0].data.inputs.temperature]).toEqual([written.write_id, 0.2]);
      expect(await originsOf(id)).toEqual(['write', 'edit', 'write']);
      expect([rows().length, await openWrites()]).toEqual([1, []]);
    });
  });

  it('[FLR-crash-chatflow] a restore that was cut off after it arrived is finished by the same command', async () => {
    const { id } = await edited('Put back');
    const words = ['chatflow', 'restore', id, '--version=1', '--yes', '--json'];
    const point: DeathPoint = { name: 'before the answer', ...PUT, kind: 'hang_after', arrived: true };
    await killedAt(store, fake, words, point);
    const put = fake.requests.count('PUT', '/chatflows/:id');
    const restored = await scene.ask('chatflow.restore', { chatflow_id: id, version: '1' });
    expect([restored.version, fake.requests.count('PUT', '/chatflows/:id') - put]).toEqual([3, 0]);
    expect([await originsOf(id), await openWrites()]).toEqual([['restore', 'edit', 'write'], []]);
  });

  it('[FLR-one-of-two-writes] of two programs that change what they both saw, one writes and one is refused', async () => {
    const { id, text } = await edited('Contested');
    const memory = [{ op_type: 'set_param', node_id: 'bufferMemory_0', param_name: 'memoryKey', value: 'mine' }];
    const [first, second] = [
      await compiled({ chatflow_id: id, ops: TEMPERATURE }),
      await compiled({ chatflow_id: id, ops: memory }),
    ];
    const put = fake.requests.count('PUT', '/chatflows/:id');
    const ends = await Promise.all([first, second].map((plan) => applyInProgram(store, fake, plan)));
    expect(ends.map(({ status }) => status).sort()).toEqual([0, 1]);
    const refused = ends.find(({ status }) => status === 1)?.stderr ?? '';
    expect(JSON.parse(refused)).toMatchObject({ code: 'chatflow_conflict' });
    expect(fake.requests.count('PUT', '/chatflows/:id') - put).toBe(1);
    const history = await historyOf(id);
    expect(history.map(({ origin }) => origin)).toEqual(['write', 'edit', 'write']);
    expect(history[1]?.flow_hash).toBe(first.base_hash);
    const changes = JSON.parse(ends.find(({ status }) => status === 0)?.stdout ?? '{}');
    expect(history[0]?.flow_hash).toBe(changes.flow_hash);
    expect(await openWrites()).toEqual([]);
    await scene.ask('chatflow.restore', { chatflow_id: id, version: '2' });
    expect(meaning(rowOf(id).flowData)).toEqual(meaning(text));
  });
});
