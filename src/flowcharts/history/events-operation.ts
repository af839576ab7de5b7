import * as z from 'zod';
import { readEvents } from '../../database/index.ts';
import { isoNow } from '../../kernel/clock.ts';
import { type Context, defineOperation } from '../../operations/index.ts';
import { hydrateEvents, runStream } from '../realtime/hydrate-event.ts';
import { type HistoryNeeds, Id, RunId } from './inputs.ts';
import { findRun, pinnedGraph } from './read-runs.ts';

const MAX_PAGE = 200;

export const RunEventsPayload = z
  .strictObject({
    flowchart_run_id: Id,
    after: z.int().describe('Where this page begins'),
    events: z.array(z.record(z.string(), z.unknown())).describe('As they are told to subscribers, oldest first'),
    titles: z.record(z.string(), z.string()).describe('Titles of the nodes that the events speak of, by id'),
    replay_gap: z.boolean().describe('Older events are gone: read the run as it is now instead'),
    next_after: z.int().describe('Pass as after for the next page'),
    last_sequence: z.int().describe('Sequence of the newest event there is'),
  })
  .meta({ id: 'RunEventsResponse' });

export const eventsOperation = defineOperation({
  name: 'run.events',
  summary: 'Read the events of a run from a sequence on',
  input: z.strictObject({
    run_id: RunId,
    after: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0).describe('Only events with a higher sequence'),
    limit: z.int().min(1).max(MAX_PAGE).default(50).describe('How many at most'),
  }),
  output: RunEventsPayload,
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/flowcharts/runs/{run_id}/events', tag: 'Runs' },
  mcp: { tool: 'run_events' },
  cli: {
    command: 'run events <run_id>',
    examples: ['flowright run events 12 --after 40'],
    render: ({ events, last_sequence }) =>
      [
        ...events.map((event) => `${event.sequence}  ${event.emitted_at}  ${event.event_type}  ${event.status ?? ''}`),
        `last sequence: ${last_sequence}`,
      ].join('\n'),
  },
  errors: ['NOT_FOUND'],
  handle: async ({ database, clock, principal }: Context<HistoryNeeds>, { run_id, after, limit }) => {
    const { queries } = database;
    const run = await findRun(queries, principal.vault_id, run_id);
    const page = await readEvents(queries, runStream(run.id), after, limit);
    const events = (await hydrateEvents(queries, page.events, isoNow(clock))).map(({ event }) => event);
    const spoken = new Set(events.map((event) => event.flowchart_node_id));
    const graph = spoken.size > 0 ? await pinnedGraph(queries, run) : { nodes: [] };
    const titled = graph.nodes.filter(({ id, title }) => spoken.has(id) && title);
    return {
      flowchart_run_id: run.id,
      after,
      events,
      titles: Object.fromEntries(titled.map(({ id, title }) => [String(id), title as string])),
      replay_gap: page.replay_gap,
      next_after: page.events.at(-1)?.sequence ?? Math.min(after, page.last_sequence),
      last_sequence: page.last_sequence,
    };
  },
});
