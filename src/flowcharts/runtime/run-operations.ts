import * as z from 'zod';
import type { Database } from '../../database/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type AnyOperation, type Context, defineOperation, freeText } from '../../operations/index.ts';
import { FlowchartId, ValidationSchema } from '../graph/wire.ts';
import { findRun, withOutputs } from '../history/read-runs.ts';
import { FlowchartRun } from '../history/run-record.ts';
import { recallKey, rememberKey } from './idempotency.ts';
import { insertRun } from './new-run.ts';
import { planRun } from './plan-run.ts';
import type { Runtime } from './runtime.ts';

export interface RuntimeNeeds {
  database: Database;
  clock: Clock;
  runtime: Runtime;
}

export const IdempotencyKey = freeText(255)
  .min(1)
  .optional()
  .describe('The same key for the same request gives the same run, for a day; also as header Idempotency-Key');

const MAX_INPUT_CHARACTERS = 262_144;

const run = defineOperation({
  name: 'flowchart.run',
  summary: 'Start a run of a flowchart',
  description:
    'Starts a run of the flowchart as it is saved now and answers at once with the queued run; run_show and run_status tell how it goes on. A flowchart that is not valid is refused with every reason.',
  input: z.strictObject({
    flowchart_id: FlowchartId,
    input: z
      .record(z.string(), z.unknown())
      .refine((value) => JSON.stringify(value).length <= MAX_INPUT_CHARACTERS, 'must be smaller than 256 KiB')
      .optional()
      .describe('What the run is given; nodes find it in the output of the start node'),
    start_node_id: z.int().min(1).optional().describe('The node to begin with instead of the start node'),
    idempotency_key: IdempotencyKey,
  }),
  output: z
    .strictObject({
      flowchart_run: FlowchartRun,
      start_node_id: z.int().nullable().describe('The node it begins with, where that was chosen'),
      idempotent: z.boolean().describe('True when this key had started the run before'),
      validation: ValidationSchema,
    })
    .meta({ id: 'FlowchartRunResponse' }),
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/flowcharts/{flowchart_id}/run', status: 202, tag: 'Runs' },
  mcp: { tool: 'flowchart_run' },
  cli: {
    command: 'flowchart run <flowchart_id>',
    byHand: true,
    render: ({ flowchart_run }) =>
      `Run ${flowchart_run.id} of flowchart ${flowchart_run.flowchart_id} is ${flowchart_run.status}.`,
  },
  errors: ['NOT_FOUND', 'FLOWCHART_INVALID', 'CONFLICT'],
  audit: ({ flowchart_id, start_node_id }, { flowchart_run }) => ({
    flowchart_id,
    run_id: flowchart_run.id,
    ...(start_node_id === undefined ? {} : { start_node_id }),
  }),
  handle: async (context: Context<RuntimeNeeds>, input) => {
    const { trx, database, clock, principal } = context;
    const { flowchart_id, idempotency_key: key, start_node_id = null } = input;
    const plan = await planRun(trx, {
      vault_id: principal.vault_id,
      flowchart_id,
      start_node_id,
      input: input.input ?? null,
      started_by: principal.user_id,
      started_as: principal.kind,
      request_id: context.request_id,
      correlation_id: context.correlation_id ?? null,
    });
    const now = clock.now();
    const request = { flowchart_id, start_node_id, input: input.input ?? null };
    const use = { vault_id: principal.vault_id, scope: `flowchart_run:${flowchart_id}`, key: key ?? '', request };
    const made = await database.scriptIn(
      trx,
      (function* () {
        const known = key === undefined ? null : yield* recallKey(use, now);
        if (known !== null) return { id: known, isKnown: true };
        const id = yield* insertRun(plan.run, now.toISOString());
        if (key !== undefined) yield* rememberKey(use, id, now);
        return { id, isKnown: false };
      })(),
    );
    const row = await findRun(trx, principal.vault_id, made.id);
    const [flowchart_run] = await withOutputs(trx, [row], { inList: false });
    return {
      flowchart_run: flowchart_run as z.output<typeof FlowchartRun>,
      start_node_id,
      idempotent: made.isKnown,
      validation: plan.validation,
    };
  },
  finish: async ({ runtime }, payload) => {
    runtime.wake(payload.flowchart_run.id);
    return payload;
  },
});

const state = defineOperation({
  name: 'flowchart.runtime',
  summary: 'What a flowchart is doing now',
  input: z.strictObject({ flowchart_id: FlowchartId }),
  output: z
    .strictObject({
      flowchart_id: z.int(),
      active_run_id: z.int().nullable().describe('Its latest run that has not ended'),
      active_run_status: z.string().nullable(),
      running_node_ids: z.array(z.int()).describe('Nodes of that run that are at work, or wait'),
    })
    .meta({ id: 'FlowchartRuntime' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/flowcharts/{flowchart_id}/runtime', tag: 'Runs' },
  mcp: { tool: 'flowchart_runtime' },
  cli: {
    command: 'flowchart runtime <flowchart_id>',
    render: ({ active_run_id, active_run_status, running_node_ids }) =>
      active_run_id === null
        ? 'No run is under way.'
        : `Run ${active_run_id} is ${active_run_status}; at work: ${running_node_ids.join(', ') || 'none'}.`,
  },
  errors: ['NOT_FOUND'],
  handle: async ({ database: { queries }, principal }: Context<RuntimeNeeds>, { flowchart_id }) => {
    const { findFlowchart } = await import('../graph/flowchart-store.ts');
    await findFlowchart(queries, principal.vault_id, flowchart_id);
    const active = await queries
      .selectFrom('flowchart_runs')
      .select(['id', 'status'])
      .where('flowchart_id', '=', flowchart_id)
      .where('status', 'in', ['queued', 'running', 'pausing', 'paused', 'stopping'])
      .orderBy('id', 'desc')
      .executeTakeFirst();
    const nodes = await queries
      .selectFrom('flowchart_run_nodes')
      .select('flowchart_node_id')
      .distinct()
      .where('flowchart_run_id', '=', active?.id ?? 0)
      .where('status', 'in', ['running', 'waiting'])
      .orderBy('flowchart_node_id')
      .execute();
    return {
      flowchart_id,
      active_run_id: active?.id ?? null,
      active_run_status: active?.status ?? null,
      running_node_ids: nodes.map((node) => node.flowchart_node_id),
    };
  },
});

export const operations: readonly AnyOperation[] = [run, state];
