import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ChatflowScene, CONVERSATION_OPS, change, openChatflowScene } from '../support/chatflow-scene.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: a flow as the canvas has it
type Canvas = any;

const TIMEOUT_SECONDS = 10;

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let fake: FakeFlowise;
  let second: FakeFlowise;
  let scene: ChatflowScene;
  let past = 0;
  let id: string;

  beforeEach(async () => {
    past = 0;
    store = await makeStore();
    fake = await startFakeFlowise({ credentials: [{ name: 'our key', credentialName: 'openAIApi' }] });
    second = await startFakeFlowise({ credentials: [{ name: 'our key', credentialName: 'openAIApi' }] });
    const clock = { now: () => new Date(Date.now() + past) };
    scene = await openChatflowScene(store, [fake, second], {
      clock,
      env: { FLOWISE_TIMEOUT: String(TIMEOUT_SECONDS) },
    });
    id = (await change(scene, CONVERSATION_OPS, { name: 'Talk' })).chatflow_id;
  });

  afterEach(async () => {
    await scene.close();
    await fake.close();
    await second.close();
    await store.remove();
  });

  const label = (text: string) => [{ op_type: 'set_label', node_id: 'chatOpenAI_0', label: text }];
  const origins = async (chatflow_id = id) =>
    (await scene.ask('chatflow.history', { chatflow_id })).items.map(({ origin }: { origin: string }) => origin);
  const prepared = async (text: string) => {
    const ops = label(text);
    const { base_hash, payload_hash } = await scene.ask('patch.compile', { chatflow_id: id, ops });
    return { chatflow_id: id, ops, base_hash, payload_hash };
  };
  const labelNow = () => JSON.parse(fake.rows.chatflows.get(id)?.flowData ?? '').nodes[0].data.label;
  /** The next answer on the route is the right one of that moment, and arrives only when it is let go. */
  const hold = (method: string, route: string) => {
    let letGo = () => {};
    const until = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const asked = new Promise<void>((arrived) => {
      fake.fault(method, route, { kind: 'held', until, times: 1, before: () => arrived() });
    });
    return { asked, letGo };
  };

  it('[FLR-one-of-two-writes] who decided on what somebody replaced since writes nothing, into the history neither', async () => {
    const [slow, quick] = [await prepared('slow'), await prepared('quick')];
    const look = hold('GET', '/chatflows/:id');
    const late = scene.refusalOf('chatflow.apply', slow);
    await look.asked;
    const { version } = await scene.ask('chatflow.apply', quick);
    look.letGo();
    const error = await late;
    expect([error?.code, error?.status, error?.details.base_hash]).toEqual(['chatflow_conflict', 409, slow.base_hash]);
    expect([labelNow(), version, await origins()]).toEqual(['quick', 2, ['write', 'write']]);
  });

  it('[FLR-history-in-order] what was seen before a write of ours is not written down after it', async () => {
    const list = hold('GET', '/chatflows');
    const looking = scene.ask('chatflow.sync');
    await list.asked;
    await change(scene, label('newer'), { chatflow_id: id });
    const made = await change(scene, CONVERSATION_OPS, { name: 'Made meanwhile' });
    list.letGo();
    expect((await looking).recorded).toEqual([]);
    expect([await origins(), await origins(made.chatflow_id)]).toEqual([['write', 'write'], ['write']]);
  });

  it('[FLR-history-in-order] a write that has arrived is written down once, as what it is, by whoever finds it first', async () => {
    const change_ = await prepared('arriving');
    const answer = hold('PUT', '/chatflows/:id');
    const sending = scene.ask('chatflow.apply', change_);
    await answer.asked;
    const { writes, recorded } = await scene.ask('chatflow.sync');
    answer.letGo();
    const written = await sending;
    expect([writes, recorded]).toMatchObject([[{ outcome: 'written', write_id: written.write_id }], []]);
    expect([written.version, await origins()]).toEqual([2, ['write', 'write']]);
  });

  it('[FLR-unsettled-write] a write of which nothing is known blocks its chatflow until its time is over, then is settled', async () => {
    const first = await prepared('lost');
    fake.fault('PUT', '/chatflows/:id', { kind: 'drop', times: 1 });
    fake.fault('GET', '/chatflows/:id', { kind: 'none', times: 2 });
    fake.fault('GET', '/chatflows/:id', { kind: 'answer', status: 500, body: 'no' });
    const error = await scene.refusalOf('chatflow.apply', first);
    expect([error?.code, error?.details.cause]).toEqual([
      'FLOWISE_WRITE_UNSETTLED',
      expect.stringMatching(/^FLOWISE_/),
    ]);
    fake.heal();
    expect((await scene.ask('chatflow.sync')).writes).toMatchObject([{ chatflow_id: id, outcome: 'open' }]);
    expect((await scene.refusalOf('chatflow.apply', await prepared('second'))).code).toBe('chatflow_conflict');
    past = 5 * TIMEOUT_SECONDS * 1_000;
    expect((await scene.ask('chatflow.sync')).writes).toMatchObject([{ chatflow_id: id, outcome: 'absent' }]);
    await scene.ask('chatflow.apply', first);
    expect([labelNow(), await origins()]).toEqual(['lost', ['write', 'write']]);
  });

  it('[FLR-unsettled-write] an edit that followed a write of which nothing is known is told, and kept', async () => {
    const first = await prepared('lost');
    fake.fault('PUT', '/chatflows/:id', { kind: 'drop_after', times: 1 });
    fake.fault('GET', '/chatflows/:id', { kind: 'none', times: 2 });
    fake.fault('GET', '/chatflows/:id', { kind: 'answer', status: 500, body: 'no' });
    expect((await scene.refusalOf('chatflow.apply', first)).code).toBe('FLOWISE_WRITE_UNSETTLED');
    fake.heal();
    fake.rows.editInCanvas(id, (flow: Canvas) => {
      delete flow.flowright;
      flow.nodes[0].data.label = 'theirs';
    });
    past = 5 * TIMEOUT_SECONDS * 1_000;
    const { writes, recorded } = await scene.ask('chatflow.sync');
    expect([writes[0].outcome, recorded.length]).toEqual(['superseded', 1]);
    expect((await scene.refusalOf('chatflow.apply', first)).code).toBe('chatflow_conflict');
    expect([labelNow(), await origins()]).toEqual(['theirs', ['edit', 'write']]);
  });

  it('[FLR-unsettled-write] a write that times out is not called a failure: it may still arrive, and is then told as ours', async () => {
    const first = { ...(await prepared('late')), idempotency_key: 'once' };
    fake.fault('PUT', '/chatflows/:id', { kind: 'drop', times: 1 });
    const error = await scene.refusalOf('chatflow.apply', first);
    expect(error).toMatchObject({ code: 'FLOWISE_WRITE_UNSETTLED', details: { write_id: expect.any(String) } });
    expect((await scene.refusalOf('chatflow.apply', first)).code).toBe('CONFLICT');
    past = 5 * TIMEOUT_SECONDS * 1_000;
    expect((await scene.ask('chatflow.sync')).writes).toMatchObject([{ outcome: 'absent' }]);
    fake.rows.editInCanvas(id, (flow: Canvas) => {
      flow.flowright = { write_id: error.details.write_id };
      flow.nodes[0].data.label = 'late';
    });
    expect((await scene.ask('chatflow.sync')).recorded).toMatchObject([{ origin: 'write', version: 2 }]);
    const { items } = await scene.ask('chatflow.history', { chatflow_id: id });
    expect(items[0]).toMatchObject({ origin: 'write', author: 'local' });
    expect(items[0].message).toContain('arrived late');
    const again = await scene.ask('chatflow.apply', first);
    expect([again.write_id, again.version]).toEqual([error.details.write_id, 2]);
  });

  it('[FLR-unsettled-write] what became of a write that failed stands in the audit log', async () => {
    fake.fault('PUT', '/chatflows/:id', { kind: 'answer', status: 403, body: '{"message":"Forbidden"}', times: 1 });
    expect((await scene.refusalOf('chatflow.apply', await prepared('refused'))).code).toBe('FLOWISE_FORBIDDEN');
    const lines = await scene.app.services.database.queries
      .selectFrom('audit')
      .select(['action', 'outcome', 'code', 'detail_json'])
      .orderBy('sequence', 'desc')
      .limit(2)
      .execute();
    expect(lines).toMatchObject([
      { action: 'chatflow.apply', outcome: 'refused', code: 'FLOWISE_FORBIDDEN' },
      { action: 'chatflow.apply', outcome: 'done', code: null },
    ]);
    expect(lines[0]?.detail_json).toBe(lines[1]?.detail_json);
    expect(lines[0]?.detail_json).toContain('write_');
  });

  it('[FLR-crash-chatflow] a promotion that was cut off after it arrived is finished by the same request', async () => {
    const request = { chatflow_id: id, to_server: 'second' };
    second.fault('POST', '/chatflows', { kind: 'drop_after', times: 1 });
    second.fault('GET', '/chatflows', { kind: 'none', times: 1 });
    second.fault('GET', '/chatflows', { kind: 'answer', status: 500, body: 'no' });
    expect((await scene.refusalOf('chatflow.promote', request)).code).toBe('FLOWISE_WRITE_UNSETTLED');
    second.heal();
    const promoted = await scene.ask('chatflow.promote', request);
    expect([...second.rows.chatflows.values()]).toMatchObject([{ id: promoted.chatflow_id, name: 'Talk' }]);
    expect([promoted.server, promoted.created, promoted.version]).toEqual(['second', true, 1]);
    expect((await scene.refusalOf('chatflow.promote', request)).code).toBe('CONFLICT');
  });

  it('[FLR-idempotent-write] the same key is the same change, though its base is gone by then', async () => {
    const input = { ...(await prepared('once')), idempotency_key: 'once' };
    const first = await scene.ask('chatflow.apply', input);
    const second = await scene.ask('chatflow.apply', input);
    expect([second.write_id, second.version]).toEqual([first.write_id, first.version]);
    const other = await scene.refusalOf('chatflow.apply', { ...(await prepared('other')), idempotency_key: 'once' });
    expect([other.code, await origins()]).toEqual(['CONFLICT', ['write', 'write']]);
  });
});
