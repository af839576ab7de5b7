import { describe, expect, it } from 'vitest';
import { AuditLog } from '../../src/audit/index.ts';
import type { Database, NodeRunStatus, RunStatus } from '../../src/database/index.ts';
import { operations } from '../../src/flowcharts/tasks/operations.ts';
import { ensureOwner, ensureVaultWithAdmin, OWNER } from '../../src/identity/index.ts';
import { FlowrightError } from '../../src/kernel/errors.ts';
import { type AnyOperation, createInvoke, type Principal } from '../../src/operations/index.ts';
import { useStore } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';

const NOW = '2026-02-03T04:05:06.000Z';
const clock = { now: () => new Date(NOW) };
const EDITOR: Principal = {
  user_id: 'ed',
  kind: 'user',
  vault_id: 'default',
  role: 'editor',
  visible_scopes: new Set(['personal']),
  ambiguous: false,
  actor_hash: 'f'.repeat(64),
};
const AGENT: Principal = { ...EDITOR, user_id: 'bot', kind: 'agent' };
const VIEWER: Principal = { ...EDITOR, user_id: 'vic', role: 'viewer' };
const STRANGER: Principal = { ...EDITOR, vault_id: 'other' };

interface Task {
  task_id: number;
  status: string;
  flowchart_run_id: number;
  answer: unknown;
  answered_by: string | null;
}
interface Page {
  items: Task[];
  count: number;
  total_count: number;
  limit: number;
  offset: number;
}

async function insertRun(database: Database, vault_id = 'default', status: RunStatus = 'running') {
  const stamps = { created_at: NOW, updated_at: NOW };
  const chart = await database.queries
    .insertInto('flowcharts')
    .values({
      vault_id,
      name: 'Release',
      description: null,
      max_node_executions: null,
      max_runtime_minutes: null,
      max_parallel_nodes: 8,
      graph_version: 1,
      ...stamps,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const node = await database.queries
    .insertInto('flowchart_nodes')
    .values({
      flowchart_id: chart.id,
      node_type: 'task',
      ref_id: null,
      title: 'Review',
      x: 0,
      y: 0,
      config_json: '{}',
      removed_at: null,
      ...stamps,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const run = await database.queries
    .insertInto('flowchart_runs')
    .values({
      vault_id,
      flowchart_id: chart.id,
      graph_version: 1,
      status,
      entry_node_id: null,
      input_json: null,
      output_node_run_id: null,
      error: null,
      error_code: null,
      warnings_json: '[]',
      trigger_source: 'manual',
      started_by: 'local',
      started_as: 'user',
      parent_run_id: null,
      parent_node_run_id: null,
      depth: 0,
      cycle: 1,
      follows_run_id: null,
      replayed_from_run_id: null,
      replay_action: null,
      max_node_executions: null,
      max_runtime_minutes: null,
      max_parallel_nodes: 8,
      executions: 0,
      completions: 0,
      active_ms: 0,
      owner: null,
      fence: 0,
      wakes: 0,
      request_id: null,
      correlation_id: null,
      started_at: NOW,
      finished_at: null,
      ...stamps,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  let sequence = 0;
  const insertNodeRun = async (wait: object | null, more: { status?: NodeRunStatus; node_type?: string } = {}) => {
    sequence += 1;
    const row = await database.queries
      .insertInto('flowchart_run_nodes')
      .values({
        flowchart_run_id: run.id,
        flowchart_node_id: node.id,
        node_type: more.node_type ?? 'task',
        sequence,
        execution_index: sequence,
        status: more.status ?? 'waiting',
        started_order: 0,
        completed_order: null,
        reused_from_id: null,
        input_context_json: '{}',
        output_state_json: null,
        routing_state_json: null,
        degraded_reason: null,
        error: null,
        error_code: null,
        wait_json: wait === null ? null : JSON.stringify(wait),
        answer_json: null,
        answered_by: null,
        answered_at: null,
        started_at: NOW,
        finished_at: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return row.id;
  };
  return { flowchart_id: chart.id, run_id: run.id, insertNodeRun };
}

const forPerson = (more: object = {}) => ({
  for: 'person',
  prompt: 'Look at it',
  answer_schema: null,
  allow_agents: false,
  ...more,
});

onEachDatabase((_engine, makeStore) => {
  const open = async () => {
    const database = await (await useStore(makeStore)).open();
    await ensureOwner(database, clock);
    await database.transaction((trx) => ensureVaultWithAdmin(trx, clock, 'other', OWNER));
    const woken: number[] = [];
    const runtime = {
      wake: (runId: number) => void woken.push(runId),
      settled: async () => {},
      onCommit: () => () => {},
    };
    const invoke = createInvoke({ database, clock, runtime }, database, new AuditLog(database, clock));
    const ask = async <T = Task>(name: string, input: unknown, principal: Principal = EDITOR): Promise<T> => {
      const operation = (operations as readonly AnyOperation[]).find((one) => one.name === name) as AnyOperation;
      const call = { principal, door: 'http', request_id: 'test', correlation_id: undefined } as const;
      const payload = await invoke(operation, call, input);
      expect(operation.output.parse(payload)).toEqual(payload);
      return payload as T;
    };
    const refused = async (name: string, input: unknown, principal?: Principal): Promise<FlowrightError> => {
      const thrown = await ask(name, input, principal).then(
        () => new Error('it succeeded'),
        (error: unknown) => error,
      );
      expect(thrown).toBeInstanceOf(FlowrightError);
      return thrown as FlowrightError;
    };
    const row = (id: number) =>
      database.queries.selectFrom('flowchart_run_nodes').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const wakes = async (id: number) =>
      (
        await database.queries
          .selectFrom('flowchart_runs')
          .select('wakes')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
      ).wakes;
    return { database, woken, ask, refused, row, wakes };
  };

  describe('[FLR-tasks-list] the list of tasks', () => {
    it('has what waits for people, the longest waiting first, in pages', async () => {
      const { database, ask } = await open();
      const first = await insertRun(database);
      const second = await insertRun(database);
      const a = await first.insertNodeRun(forPerson());
      await first.insertNodeRun(null, { status: 'running' });
      await first.insertNodeRun({ for: 'run', flowchart_id: 1, input: null }, { node_type: 'flowchart' });
      const b = await second.insertNodeRun(forPerson({ prompt: 'And this', allow_agents: true }));
      await second.insertNodeRun(forPerson(), { status: 'canceled' });
      const c = await first.insertNodeRun(forPerson());
      const stopped = await insertRun(database, 'default', 'canceled');
      await stopped.insertNodeRun(forPerson());

      const all = await ask<Page>('task.list', {}, VIEWER);
      expect(all.items.map(({ task_id }) => task_id)).toEqual([a, b, c]);
      expect(all).toMatchObject({ count: 3, total_count: 3, limit: 50, offset: 0 });
      expect(all.items[1]).toEqual({
        task_id: b,
        status: 'waiting',
        flowchart_id: second.flowchart_id,
        flowchart_name: 'Release',
        flowchart_run_id: second.run_id,
        flowchart_node_id: expect.any(Number),
        title: 'Review',
        execution_index: 1,
        prompt: 'And this',
        answer_schema: null,
        allow_agents: true,
        waiting_since: NOW,
        answer: null,
        answered_by: null,
        answered_at: null,
      });
      const ids = async (input: object) => (await ask<Page>('task.list', input)).items.map(({ task_id }) => task_id);
      expect(await ids({ limit: 2 })).toEqual([a, b]);
      expect(await ids({ limit: 2, offset: 2 })).toEqual([c]);
      expect(await ids({ flowchart_id: second.flowchart_id })).toEqual([b]);
      expect(await ids({ run_id: first.run_id })).toEqual([a, c]);
      expect(await ask<Page>('task.list', { run_id: first.run_id, limit: 1 })).toMatchObject({
        count: 1,
        total_count: 2,
      });
    });

    it('loses a task once it is answered', async () => {
      const { database, ask } = await open();
      const { insertNodeRun } = await insertRun(database);
      const task_id = await insertNodeRun(forPerson());
      await ask('task.answer', { task_id, answer: 'yes' });
      expect(await ask<Page>('task.list', {})).toMatchObject({ items: [], total_count: 0 });
    });
  });

  describe('[FLR-tasks-answer] an answer', () => {
    it('is stored canonically, raises the run and wakes it', async () => {
      const { database, ask, row, wakes, woken } = await open();
      const { insertNodeRun, run_id } = await insertRun(database);
      const task_id = await insertNodeRun(forPerson());
      const task = await ask('task.answer', { task_id, answer: { b: [1, null], a: { z: 'é', y: true } } });
      expect(task).toMatchObject({ status: 'answered', answered_by: 'ed', answered_at: NOW });
      expect(await row(task_id)).toMatchObject({
        status: 'waiting',
        answer_json: '{"a":{"y":true,"z":"é"},"b":[1,null]}',
        answered_by: 'ed',
        answered_at: NOW,
      });
      expect(await wakes(run_id)).toBe(1);
      expect(woken).toEqual([run_id]);
      expect(await ask('task.get', { task_id }, VIEWER)).toEqual(task);
      const line = await database.queries
        .selectFrom('audit')
        .selectAll()
        .where('action', '=', 'task.answer')
        .executeTakeFirstOrThrow();
      expect(JSON.stringify(line)).not.toContain('é');
    });

    it('is given once, also by two at the same moment', async () => {
      const { database, ask, refused, wakes, woken } = await open();
      const { insertNodeRun, run_id } = await insertRun(database);
      const task_id = await insertNodeRun(forPerson());
      const both = await Promise.allSettled(['one', 'two'].map((answer) => ask('task.answer', { task_id, answer })));
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const again = await refused('task.answer', { task_id, answer: 'three' });
      expect(again.code).toBe('CONFLICT');
      expect(await wakes(run_id)).toBe(1);
      expect(woken).toEqual([run_id]);
    });

    it.each(['succeeded', 'failed', 'canceled'] as const)('comes too late for a node run that %s', async (status) => {
      const { database, refused, woken, ask } = await open();
      const { insertNodeRun } = await insertRun(database);
      const task_id = await insertNodeRun(forPerson(), { status });
      expect((await refused('task.answer', { task_id, answer: 'x' })).code).toBe('CONFLICT');
      expect(await ask('task.get', { task_id })).toMatchObject({ status: 'closed', answer: null });
      expect(woken).toEqual([]);
    });

    it('is missing, or too long', async () => {
      const { database, refused } = await open();
      const { insertNodeRun } = await insertRun(database);
      const task_id = await insertNodeRun(forPerson());
      expect((await refused('task.answer', { task_id })).code).toBe('BAD_REQUEST');
      expect((await refused('task.answer', { task_id, answer: 'x'.repeat(70_000) })).code).toBe('PAYLOAD_TOO_LARGE');
    });

    it.each([null, false, 0, '', [], {}])('may be %j', async (answer) => {
      const { database, ask, row } = await open();
      const { insertNodeRun } = await insertRun(database);
      const task_id = await insertNodeRun(forPerson());
      expect(await ask('task.answer', { task_id, answer })).toMatchObject({ status: 'answered', answer });
      expect((await row(task_id)).answer_json).toBe(JSON.stringify(answer));
    });
  });

  it('[FLR-tasks-agents] is for people, unless the task allows agents; never for viewers', async () => {
    const { database, ask, refused, row } = await open();
    const { insertNodeRun } = await insertRun(database);
    const closed = await insertNodeRun(forPerson());
    const opened = await insertNodeRun(forPerson({ allow_agents: true }));
    expect((await refused('task.answer', { task_id: closed, answer: 'x' }, AGENT)).code).toBe('FORBIDDEN');
    expect((await refused('task.answer', { task_id: opened, answer: 'x' }, VIEWER)).code).toBe('FORBIDDEN');
    expect((await row(closed)).answer_json).toBeNull();
    expect(await ask('task.answer', { task_id: opened, answer: 'x' }, AGENT)).toMatchObject({ answered_by: 'bot' });
  });

  it('[FLR-tasks-schema] must fit the schema; text that reads as what is wanted does', async () => {
    const { database, ask, refused, row } = await open();
    const { insertNodeRun } = await insertRun(database);
    const answer_schema = {
      type: 'object',
      properties: { route_key: { enum: ['approve', 'reject'] }, score: { type: 'integer', minimum: 1 } },
      required: ['route_key'],
      additionalProperties: false,
    };
    const task_id = await insertNodeRun(forPerson({ answer_schema }));
    const refusal = await refused('task.answer', { task_id, answer: { route_key: 'later', score: 0 } });
    expect(refusal.code).toBe('BAD_REQUEST');
    expect(refusal.details.errors).toMatchObject([{ path: '/answer/route_key' }, { path: '/answer/score' }]);
    for (const answer of ['approve', null, 7, [], { route_key: 'approve', more: 1 }]) {
      expect((await refused('task.answer', { task_id, answer })).code).toBe('BAD_REQUEST');
    }
    expect((await row(task_id)).answer_json).toBeNull();
    await ask('task.answer', { task_id, answer: '{"route_key": "approve"}' });
    expect((await row(task_id)).answer_json).toBe('{"route_key":"approve"}');
    const yesOrNo = await insertNodeRun(forPerson({ answer_schema: { type: 'boolean' } }));
    expect(await ask('task.answer', { task_id: yesOrNo, answer: 'true' })).toMatchObject({ answer: true });
    const hostile = await insertNodeRun(forPerson({ answer_schema: { type: 'string', pattern: '^(a+)+$' } }));
    const slow = await refused('task.answer', { task_id: hostile, answer: `${'a'.repeat(60)}b` });
    expect(slow.details.errors).toMatchObject([{ code: 'answer_schema_unusable' }]);
  });

  it('[FLR-tasks-vault] is missing for other vaults, as is what waits for no person', async () => {
    const { database, ask, refused } = await open();
    const { insertNodeRun } = await insertRun(database);
    const task_id = await insertNodeRun(forPerson());
    const child = await insertNodeRun({ for: 'run', flowchart_id: 1, input: null }, { node_type: 'flowchart' });
    const running = await insertNodeRun(null, { status: 'running' });
    expect(await ask<Page>('task.list', {}, STRANGER)).toMatchObject({ items: [], total_count: 0 });
    const missing = await refused('task.get', { task_id: 999_999 });
    for (const name of ['task.get', 'task.answer']) {
      const more = name === 'task.answer' ? { answer: 'x' } : {};
      const hidden = await refused(name, { task_id, ...more }, STRANGER);
      expect(hidden.code).toBe('NOT_FOUND');
      expect(hidden.message.replace(String(task_id), '999999')).toBe(missing.message);
      for (const id of [child, running]) {
        expect((await refused(name, { task_id: id, ...more })).code).toBe('NOT_FOUND');
      }
    }
  });
});
