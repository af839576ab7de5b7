import * as z from 'zod';
import { isoNow } from '../../kernel/clock.ts';
import { badRequest } from '../../kernel/errors.ts';
import { inertLine, textTable } from '../../kernel/terminal.ts';
import { type Context, defineOperation, pageInput, pageOutput, plainText } from '../../operations/index.ts';
import { type HistoryNeeds, Id, RunId } from './inputs.ts';
import { findRun, withOutputs } from './read-runs.ts';
import { readTrace, SURFACES, type SurfaceName } from './read-trace.ts';
import { FlowchartRun, NODE_RUN_STATUSES } from './run-record.ts';

const { count: _, ...page } = pageOutput;
const Surface = z
  .strictObject({ items: z.array(z.record(z.string(), z.unknown())), ...page })
  .meta({ id: 'TraceSurface' });

const word = plainText(128).optional();

export const traceOperation = defineOperation({
  name: 'run.trace',
  summary: 'Trace a run: nodes, tools, artifacts, failures and the timeline, newest first',
  input: z.strictObject({
    run_id: RunId,
    include: z
      .array(z.string())
      .default(['all'])
      .describe(`all, or some of ${SURFACES.join(', ')}`),
    status: z.array(z.enum(NODE_RUN_STATUSES)).optional().describe('Only node runs with one of these statuses'),
    flowchart_node_id: Id.optional().describe('Only of this node'),
    flowchart_run_node_id: Id.optional().describe('Only this node run'),
    artifact_type: word.describe('Only artifacts of this kind'),
    trace_request_id: word.describe('Only with this request id'),
    trace_correlation_id: word.describe('Only with this correlation id'),
    degraded_only: z.boolean().default(false).describe('Only node runs that succeeded with a warning'),
    ...pageInput,
  }),
  output: z
    .strictObject({
      ok: z.literal(true),
      flowchart_run: FlowchartRun,
      filters: z.record(z.string(), z.unknown()).describe('What was asked for'),
      limits: z.strictObject({ limit: z.int(), offset: z.int() }),
      run_trace: Surface,
      node_trace: Surface,
      tool_trace: Surface,
      artifact_trace: Surface,
      failure_trace: Surface,
      timeline: Surface,
      request_id: z.string(),
      correlation_id: z.string().optional(),
    })
    .meta({ id: 'RunTraceResponse' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/flowcharts/runs/{run_id}/trace', tag: 'Runs' },
  mcp: { tool: 'run_trace' },
  cli: {
    command: 'run trace <run_id>',
    examples: ['flowright run trace 12', 'flowright run trace 12 --include failure,timeline'],
    render: ({ flowchart_run, timeline }) => {
      const rows = timeline.items.map((item) => [
        String(item.at),
        String(item.event_type).replace('flowchart_', ''),
        item.flowchart_run_node_id === null ? '' : String(item.flowchart_run_node_id),
        String(item.status ?? ''),
        String(item.message ?? ''),
      ]);
      const heading = inertLine(`run ${flowchart_run.id}: ${flowchart_run.status}`);
      return `${heading}\n${textTable(['AT', 'WHAT', 'NODE RUN', 'STATUS', 'NOTE'], rows)}`;
    },
  },
  errors: ['NOT_FOUND'],
  handle: async (context: Context<HistoryNeeds>, { run_id, include, limit, offset, ...filter }) => {
    const { database, clock, principal, request_id, correlation_id } = context;
    const surfaces = surfacesOf(include);
    const run = await findRun(database.queries, principal.vault_id, run_id);
    const trace = await readTrace({ database, now: isoNow(clock) }, run, surfaces, filter, { limit, offset });
    const [flowchart_run] = await withOutputs(database.queries, [run], { inList: true });
    return {
      ok: true as const,
      flowchart_run: flowchart_run as FlowchartRun,
      filters: { include: surfaces, ...filter },
      limits: { limit, offset },
      ...trace,
      request_id,
      ...(correlation_id === undefined ? {} : { correlation_id }),
    };
  },
});

function surfacesOf(include: readonly string[]): readonly SurfaceName[] {
  if (include.includes('all')) return SURFACES;
  const unknown = include.filter((name) => !SURFACES.includes(name as SurfaceName));
  if (unknown.length > 0) {
    const message = `must be all, or some of ${SURFACES.join(', ')}`;
    throw badRequest([{ code: 'invalid_value', message, path: '/include' }], 'run.trace');
  }
  return SURFACES.filter((name) => include.includes(name));
}
