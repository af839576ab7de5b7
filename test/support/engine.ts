import type { Selectable } from 'kysely';
import { expect } from 'vitest';
import type { App } from '../../src/app.ts';
import type { Database, FlowchartRunNodesTable, FlowchartRunsTable } from '../../src/database/index.ts';
import { insertRun, type NewRun } from '../../src/flowcharts/runtime/new-run.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { FlowrightError } from '../../src/kernel/errors.ts';
import type { AnyOperation } from '../../src/operations/index.ts';
import { openTestApp } from './app.ts';
import type { TestStore } from './databases.ts';

// biome-ignore lint/suspicious/noExplicitAny: payloads of every shape; tests look into them
export type Payload = any;
type Json = Record<string, unknown>;
export type RunRow = Selectable<FlowchartRunsTable>;
type NodeRunRow = Selectable<FlowchartRunNodesTable>;

/** How long a test waits for what must happen; far longer than it takes. */
const PATIENCE_MS = 20_000;
export const PATIENT = { timeout: PATIENCE_MS };

/** A node by its name in the test; `type` is the kind of node. */
export type NodeSketch = { type: string; config?: Json; ref_id?: number; attachment_ids?: number[] };

export interface Chart {
  id: number;
  version: number;
  /** Ids of nodes by their names. */
  node: Record<string, number>;
  /** Ids of connectors by what they are written as. */
  edge: Record<string, number>;
  validation: { valid: boolean; errors: { code: string }[]; warnings: { code: string }[] };
}

export interface NodeRun extends NodeRunRow {
  name: string;
  output: Payload;
  routing: Payload;
}

/** A run with what became of its nodes, in the order of their activation. */
export interface Story {
  run: RunRow;
  nodes: NodeRun[];
  /** `name status`, in order. */
  lines: string[];
  /** The node runs of this name. */
  of(name: string): NodeRun[];
  /** The only one. */
  one(name: string): NodeRun;
}

/** The wired program with its real operations and engine, and ways to wait for what a run does. */
export interface Engine {
  app: App;
  database: Database;
  ask(name: string, input?: Json): Promise<Payload>;
  refusal(name: string, input?: Json): Promise<FlowrightError>;
  /** Saves a graph: nodes by name, connectors as `a -> b key` (solid), `a ..> b` (dotted), `a --> b` (dashed). */
  draw(nodes: Record<string, NodeSketch>, edges: readonly string[], settings?: Json): Promise<Chart>;
  redraw(chart: Chart, nodes: Record<string, NodeSketch>, edges: readonly string[]): Promise<Chart>;
  /** Starts a run and does not wait. */
  start(chart: Chart, options?: Json): Promise<number>;
  /** A queued run of whatever is stored, judged by nobody; the engine is not told of it. */
  queue(chart: Pick<Chart, 'id' | 'version'>): Promise<number>;
  /** Starts a run and waits for its end. */
  run(chart: Chart, options?: Json): Promise<Story>;
  ended(runId: number, chart: Chart): Promise<Story>;
  story(runId: number, chart: Chart): Promise<Story>;
  row(runId: number): Promise<RunRow>;
  /** Waits until the run looks as the test wants it. */
  when(runId: number, chart: Chart, looks: (story: Story) => boolean): Promise<Story>;
  close(): Promise<void>;
}

export async function openEngine(
  store: TestStore,
  options: { clock?: Clock; env?: Record<string, string> } = {},
): Promise<Engine> {
  const app = await openTestApp(store, options);
  const { database, runtime } = app.services;
  const byName = new Map((await app.catalogue.all()).map((operation) => [operation.name, operation]));
  const principal = await app.principals.local({
    identity: 'local',
    vaultId: 'default',
    narrowTo: null,
    agent: false,
  });
  const ask = async (name: string, input: Json = {}): Promise<Payload> => {
    const operation = byName.get(name) as AnyOperation;
    const call = { principal, door: 'http', request_id: 'asked', correlation_id: 'together' } as const;
    const sent = JSON.parse(JSON.stringify(await app.invoke(operation, call, JSON.parse(JSON.stringify(input)))));
    expect(operation.output.parse(sent)).toEqual(sent);
    return sent;
  };
  const row = (runId: number) =>
    database.queries.selectFrom('flowchart_runs').selectAll().where('id', '=', runId).executeTakeFirstOrThrow();
  const story = async (runId: number, chart: Chart): Promise<Story> => {
    const run = await row(runId);
    const found = await database.queries
      .selectFrom('flowchart_run_nodes')
      .selectAll()
      .where('flowchart_run_id', '=', runId)
      .orderBy('sequence')
      .execute();
    return storyOf(run, found, chart);
  };
  const when: Engine['when'] = async (runId, chart, looks) => {
    for (const end = performance.now() + PATIENCE_MS; ; await new Promise((next) => setTimeout(next, 5))) {
      const now = await story(runId, chart);
      if (looks(now)) return now;
      if (performance.now() > end) {
        throw new Error(`run ${runId} is ${now.run.status} (${now.run.error}): ${now.lines.join(', ')}`);
      }
    }
  };
  const ended: Engine['ended'] = async (runId, chart) => {
    await runtime.settled(runId);
    return when(runId, chart, ({ run }) => run.finished_at !== null);
  };
  const start: Engine['start'] = async (chart, more = {}) =>
    (await ask('flowchart.run', { flowchart_id: chart.id, ...more })).flowchart_run.id;
  const save = async (id: number, nodes: Record<string, NodeSketch>, edges: readonly string[]): Promise<Chart> => {
    const saved = await ask('flowchart.save', { flowchart_id: id, ...graphOf(nodes, edges) });
    return {
      id,
      version: saved.version,
      node: saved.id_map.nodes,
      edge: saved.id_map.edges,
      validation: saved.validation,
    };
  };
  return {
    app,
    database,
    ask,
    refusal: async (name, input = {}) => {
      try {
        await ask(name, input);
      } catch (error) {
        return error as FlowrightError;
      }
      throw new Error(`${name} was not refused`);
    },
    draw: async (nodes, edges, settings = {}) => {
      const { flowchart } = await ask('flowchart.create', { name: 'Drawn', ...settings });
      return save(flowchart.id, nodes, edges);
    },
    redraw: async (chart, nodes, edges) => {
      const known = Object.entries(nodes).map(([name, sketch]) => [
        name,
        chart.node[name] === undefined ? sketch : { ...sketch, id: chart.node[name] },
      ]);
      return save(chart.id, Object.fromEntries(known), edges);
    },
    start,
    queue: (chart) => database.script(() => insertRun(newRun(chart), app.services.clock.now().toISOString())),
    run: async (chart, more) => ended(await start(chart, more), chart),
    ended,
    story,
    row,
    when,
    close: () => app.close(),
  };
}

function newRun(chart: Pick<Chart, 'id' | 'version'>): NewRun {
  return {
    vault_id: 'default',
    flowchart_id: chart.id,
    graph_version: chart.version,
    entry_node_id: null,
    input_json: null,
    trigger_source: 'manual',
    started_by: 'local',
    started_as: 'local',
    max_node_executions: null,
    max_runtime_minutes: null,
    max_parallel_nodes: 8,
  };
}

const ARROWS: Record<string, string> = { '->': 'solid', '..>': 'dotted', '-->': 'dashed' };

export function graphOf(nodes: Record<string, NodeSketch>, edges: readonly string[]): { nodes: Json[]; edges: Json[] } {
  return {
    nodes: Object.entries(nodes).map(([name, { type, ...more }], at) => ({
      client_id: name,
      node_type: type,
      x: at * 200,
      y: 0,
      ...more,
    })),
    edges: edges.map((text) => {
      const [source, arrow, target, condition_key] = text.split(' ') as [string, string, string, string?];
      const edge = { client_id: text, source, target, edge_mode: ARROWS[arrow] };
      return condition_key === undefined ? edge : { ...edge, condition_key };
    }),
  };
}

function storyOf(run: RunRow, found: readonly NodeRunRow[], chart: Chart): Story {
  const names = new Map(Object.entries(chart.node).map(([name, id]) => [id, name]));
  const nodes = found.map((node) => ({
    ...node,
    name: names.get(node.flowchart_node_id) ?? `node ${node.flowchart_node_id}`,
    output: node.output_state_json === null ? null : JSON.parse(node.output_state_json),
    routing: node.routing_state_json === null ? null : JSON.parse(node.routing_state_json),
  }));
  const of = (name: string) => nodes.filter((node) => node.name === name);
  return {
    run,
    nodes,
    lines: nodes.map(({ name, status }) => `${name} ${status}`),
    of,
    one: (name) => {
      const all = of(name);
      expect(all, `node runs of ${name}`).toHaveLength(1);
      return all[0] as NodeRun;
    },
  };
}

export const start: NodeSketch = { type: 'start' };
export const end: NodeSketch = { type: 'end' };
/** A task whose result is known beforehand. */
export const given = (output: Json = {}, config: Json = {}): NodeSketch => ({
  type: 'task',
  config: { executor: 'static', output, ...config },
});
/** A task for the model. */
export const asked = (task_prompt: string, config: Json = {}): NodeSketch => ({
  type: 'task',
  config: { executor: 'llm', task_prompt, task_schema_retry_attempts: 1, ...config },
});
/** A task for a person. */
export const human = (config: Json = {}): NodeSketch => ({
  type: 'task',
  config: { executor: 'human', task_prompt: 'Please look.', ...config },
});
/** Conditions by the key of the connector. */
export const decision = (conditions: Record<string, string>, config: Json = {}): NodeSketch => ({
  type: 'decision',
  config: {
    decision_conditions: Object.entries(conditions).map(([connector_id, condition_text]) => ({
      connector_id,
      condition_text,
    })),
    ...config,
  },
});
/** Remembers a text at once, in the transaction that completes it. */
export const remember = (text: string, config: Json = {}): NodeSketch => ({
  type: 'memory',
  config: { action: 'add', mode: 'deterministic', store_mode: 'append', text, ...config },
});
export const subflow = (chart: Chart, config: Json = {}): NodeSketch => ({
  type: 'flowchart',
  ref_id: chart.id,
  config,
});
