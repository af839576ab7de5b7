import * as z from 'zod';
import { rows, type Script } from '../../database/index.ts';
import { badRequest } from '../../kernel/errors.ts';
import { type AnyOperation, type Context, defineOperation } from '../../operations/index.ts';
import { findFlowchart } from '../graph/flowchart-store.ts';
import { graphOf } from '../graph/graph-answer.ts';
import { RunId } from '../history/inputs.ts';
import { findRun, withOutputs } from '../history/read-runs.ts';
import { FlowchartRun } from '../history/run-record.ts';
import { control, isEnded } from './control.ts';
import { holdParent } from './end-run.ts';
import { recallKey, rememberKey } from './idempotency.ts';
import { type ReplayAction, replay } from './replay.ts';
import { IdempotencyKey, type RuntimeNeeds } from './run-operations.ts';
import type { RunRow } from './walk-services.ts';

const ACTIONS = ['cancel', 'pause', 'resume', 'retry', 'skip', 'rewind'] as const;
type Action = (typeof ACTIONS)[number];

const Warning = z.looseObject({ code: z.string(), message: z.string() });

const ControlResponse = z
  .strictObject({
    flowchart_run: FlowchartRun.describe('The run as it is now'),
    requested_action: z.enum(ACTIONS),
    applied_action: z
      .string()
      .describe('What came of it: the new status, none, noop, noop_active, replay_queued or replay_existing'),
    updated: z.boolean().describe('Whether anything changed'),
    idempotent: z.boolean().describe('The opposite: it was so already'),
    force: z.boolean(),
    canceled: z.boolean().describe('The run was ended by this request'),
    stop_requested: z.boolean().describe('The run stops once the nodes at work have finished'),
    replay_run: FlowchartRun.nullable().describe('The new run of a retry, skip or rewind'),
    rewind_to_node_run_id: z.int().nullable(),
    warnings: z.array(Warning).describe('Effects that the new run may have a second time'),
    request_id: z.string(),
    correlation_id: z.string().optional(),
  })
  .meta({ id: 'RunControlResponse' });
type ControlResponse = z.output<typeof ControlResponse>;

interface Wish {
  run_id: number;
  force?: boolean;
  force_new?: boolean;
  graph?: 'same' | 'latest';
  idempotency_key?: string | undefined;
  rewind_to_node_run_id?: number | undefined;
}

interface Done {
  applied_action: string;
  updated: boolean;
  woken: readonly number[];
  replay_run_id: number | null;
  warnings: z.output<typeof Warning>[];
}

/** Runs that want attention because of an answer; they are told once it is committed. */
const woken = new WeakMap<ControlResponse, readonly number[]>();

async function steer(context: Context<RuntimeNeeds>, action: Action, wish: Wish): Promise<ControlResponse> {
  const { trx, database, clock, principal } = context;
  await database.scriptIn(trx, holdParent(wish.run_id));
  // What is decided rests on its status, which must not move meanwhile.
  await database.scriptIn(trx, rows('update flowchart_runs set updated_at = updated_at where id = ?', wish.run_id));
  const run = await findRun(trx, principal.vault_id, wish.run_id);
  const { force = false, rewind_to_node_run_id: rewindTo = null } = wish;
  if (action === 'rewind' && rewindTo === null) {
    const issue = { code: 'required', message: 'names the node run to go back to', path: '/rewind_to_node_run_id' };
    throw badRequest([issue], 'run.rewind');
  }
  let done: Done;
  if (action === 'cancel' || action === 'pause' || action === 'resume') {
    const controlled = await database.scriptIn(trx, control(run, action, force, clock.now().toISOString()));
    done = { ...controlled, replay_run_id: null, warnings: [] };
  } else {
    done = await again(context, action, run, { ...wish, rewind_to_node_run_id: rewindTo ?? undefined });
  }
  const [after, replayed] = await asRecords(context, [
    run.id,
    ...(done.replay_run_id === null ? [] : [done.replay_run_id]),
  ]);
  const response: ControlResponse = {
    flowchart_run: after as z.output<typeof FlowchartRun>,
    requested_action: action,
    applied_action: done.applied_action,
    updated: done.updated,
    idempotent: !done.updated,
    force,
    canceled: done.updated && (done.applied_action === 'canceled' || done.applied_action === 'stopped'),
    stop_requested: done.applied_action === 'stopping',
    replay_run: replayed ?? null,
    rewind_to_node_run_id: rewindTo,
    warnings: done.warnings,
    request_id: context.request_id,
    ...(context.correlation_id === undefined ? {} : { correlation_id: context.correlation_id }),
  };
  woken.set(response, done.woken);
  return response;
}

/** The same request gives the same new run; `force_new` asks for another. */
async function again(context: Context<RuntimeNeeds>, action: ReplayAction, run: RunRow, wish: Wish): Promise<Done> {
  const nothing = { updated: false, replay_run_id: null, warnings: [], woken: [] };
  if (!isEnded(run.status)) return { ...nothing, applied_action: 'noop_active' };
  const { trx, database, clock, principal } = context;
  const now = clock.now();
  const { rewind_to_node_run_id: rewindTo = null, graph: choice = 'same' } = wish;
  const flowchart = await findFlowchart(trx, principal.vault_id, run.flowchart_id);
  const graphVersion = choice === 'latest' ? flowchart.graph_version : run.graph_version;
  const graph = await graphOf(trx, run.flowchart_id, graphVersion);
  const use = {
    vault_id: principal.vault_id,
    scope: `flowchart_run_control:${action}:${run.id}`,
    key: wish.idempotency_key ?? `default:${action}:${run.id}:${rewindTo ?? ''}:${choice}`,
    request: { rewindTo, choice },
  };
  return database.scriptIn(
    trx,
    (function* (): Script<Done> {
      const known = wish.force_new ? null : yield* recallKey(use, now);
      if (known !== null) return { ...nothing, applied_action: 'replay_existing', replay_run_id: known };
      const made = yield* replay({
        source: run,
        action,
        rewindTo,
        graph,
        graphVersion,
        limits: flowchart,
        started_by: principal.user_id,
        started_as: principal.kind,
        request_id: context.request_id,
        correlation_id: context.correlation_id ?? null,
        now: now.toISOString(),
      });
      yield* rememberKey(use, made.runId, now);
      const warnings = made.warnings.map((warning) => ({ ...warning }));
      return {
        applied_action: 'replay_queued',
        updated: true,
        replay_run_id: made.runId,
        warnings,
        woken: [made.runId],
      };
    })(),
  );
}

async function asRecords({ trx, principal }: Context<RuntimeNeeds>, ids: readonly number[]) {
  const found: RunRow[] = [];
  for (const id of ids) found.push(await findRun(trx, principal.vault_id, id));
  return withOutputs(trx, found, { inList: false });
}

/** Common to all of them: who may, what may go wrong, what is written down. */
const shared = {
  output: ControlResponse,
  access: { can: 'write' as const },
  effect: 'write' as const,
  errors: ['NOT_FOUND', 'CONFLICT'],
  audit: ({ run_id }: { run_id: number }, payload: ControlResponse) => ({
    run_id,
    action: payload.requested_action,
    applied_action: payload.applied_action,
    ...(payload.replay_run ? { replay_run_id: payload.replay_run.id } : {}),
  }),
  finish: async ({ runtime }: Context<RuntimeNeeds>, payload: ControlResponse) => {
    for (const runId of woken.get(payload) ?? []) runtime.wake(runId);
    return payload;
  },
};

const path = '/api/v1/flowcharts/runs/{run_id}';
const tag = 'Runs';
const force = z.boolean().default(false).describe('Cancel at once: nodes at work are not waited for');
const force_new = z.boolean().default(false).describe('Make another run even if this request made one before');
const graph = z
  .enum(['same', 'latest'])
  .default('same')
  .describe('Walk the graph that the run walked, or the one saved last, as far as what was done still fits it');
const rewind_to_node_run_id = z
  .int()
  .min(1)
  .describe('The node run to go back to: it is the first to be executed again');
const replayInput = { run_id: RunId, force_new, graph, idempotency_key: IdempotencyKey };

const any = defineOperation({
  ...shared,
  name: 'run.control',
  summary: 'Cancel, pause, resume, retry, skip or rewind a run',
  description:
    'cancel stops a run once the nodes at work have finished (force: at once); pause and resume hold it; retry goes on from the failed node in a new run, skip takes that node as done, rewind goes back to a node run.',
  input: z.strictObject({
    run_id: RunId,
    action: z.enum(ACTIONS).describe('What to do'),
    force,
    force_new,
    graph,
    rewind_to_node_run_id: rewind_to_node_run_id.optional(),
    idempotency_key: IdempotencyKey,
  }),
  http: { method: 'POST', path: `${path}/control`, tag },
  mcp: { tool: 'run_control' },
  handle: (context: Context<RuntimeNeeds>, { action, ...wish }) => steer(context, action, wish),
});

const cancel = defineOperation({
  ...shared,
  name: 'run.cancel',
  summary: 'Stop a run',
  input: z.strictObject({ run_id: RunId, force, idempotency_key: IdempotencyKey }),
  http: { method: 'POST', path: `${path}/cancel`, tag },
  mcp: { tool: 'run_cancel' },
  cli: {
    command: 'run cancel <run_id>',
    examples: ['flowright run cancel 7', 'flowright run cancel 7 --force'],
    render: controlLines,
  },
  handle: (context: Context<RuntimeNeeds>, wish) => steer(context, 'cancel', wish),
});

const pause = defineOperation({
  ...shared,
  name: 'run.pause',
  summary: 'Hold a run once the nodes at work have finished',
  input: z.strictObject({ run_id: RunId, idempotency_key: IdempotencyKey }),
  http: { method: 'POST', path: `${path}/pause`, tag },
  mcp: { tool: 'run_pause' },
  cli: { command: 'run pause <run_id>', render: controlLines },
  handle: (context: Context<RuntimeNeeds>, wish) => steer(context, 'pause', wish),
});

const resume = defineOperation({
  ...shared,
  name: 'run.resume',
  summary: 'Let a paused run go on',
  input: z.strictObject({ run_id: RunId, idempotency_key: IdempotencyKey }),
  http: { method: 'POST', path: `${path}/resume`, tag },
  mcp: { tool: 'run_resume' },
  cli: { command: 'run resume <run_id>', render: controlLines },
  handle: (context: Context<RuntimeNeeds>, wish) => steer(context, 'resume', wish),
});

const retry = defineOperation({
  ...shared,
  name: 'run.retry',
  summary: 'Go on from where a run failed, in a new run',
  description: 'What the run had completed is taken over and not executed again. A run that had completed begins anew.',
  input: z.strictObject(replayInput),
  http: { method: 'POST', path: `${path}/retry`, tag },
  mcp: { tool: 'run_retry' },
  cli: {
    command: 'run retry <run_id>',
    examples: ['flowright run retry 7', 'flowright run retry 7 --graph latest'],
    render: controlLines,
  },
  handle: (context: Context<RuntimeNeeds>, wish) => steer(context, 'retry', wish),
});

const skip = defineOperation({
  ...shared,
  name: 'run.skip',
  summary: 'Go on after the failed node of a run, in a new run',
  input: z.strictObject(replayInput),
  http: { method: 'POST', path: `${path}/skip`, tag },
  mcp: { tool: 'run_skip' },
  cli: { command: 'run skip <run_id>', render: controlLines },
  handle: (context: Context<RuntimeNeeds>, wish) => steer(context, 'skip', wish),
});

const rewind = defineOperation({
  ...shared,
  name: 'run.rewind',
  summary: 'Go back to a node run of a run, in a new run',
  description: 'The new run begins as the run was when that node run started; effects that it may repeat are listed.',
  input: z.strictObject({ ...replayInput, rewind_to_node_run_id }),
  http: { method: 'POST', path: `${path}/rewind`, tag },
  mcp: { tool: 'run_rewind' },
  cli: {
    command: 'run rewind <run_id> <rewind_to_node_run_id>',
    examples: ['flowright run rewind 7 31'],
    render: controlLines,
  },
  handle: (context: Context<RuntimeNeeds>, wish) => steer(context, 'rewind', wish),
});

function controlLines({ flowchart_run, replay_run, applied_action, updated, warnings }: ControlResponse): string {
  const { id, status } = flowchart_run;
  const lines: string[] = [];
  if (replay_run) {
    const verb = applied_action === 'replay_existing' ? 'was made before' : 'follows';
    lines.push(`Run ${replay_run.id} ${verb}: \`flowright run watch ${replay_run.id}\` shows it.`);
  } else if (applied_action === 'noop_active') {
    lines.push(`Run ${id} is ${status}; nothing was done. Wait until it has ended, or cancel it first.`);
  } else {
    lines.push(updated ? `Run ${id} is ${status}.` : `Run ${id} is ${status}; nothing was to be done.`);
  }
  for (const { message } of warnings) lines.push(`warning: ${message}`);
  return lines.join('\n');
}

export const operations: readonly AnyOperation[] = [any, cancel, pause, resume, retry, skip, rewind];
