import * as z from 'zod';
import { badRequest, type Issue } from '../../kernel/errors.ts';
import { assertShallow, type Context, defineOperation, jsonPointer } from '../../operations/index.ts';
import { nodeTypes } from '../nodes/registry.ts';
import { SentEdge, SentNode } from './documented-graph.ts';
import type { GraphDraft } from './draft.ts';
import { findFlowchart, holdFlowchart, startNodeOf } from './flowchart-store.ts';
import { graphAnswer, graphOf, judgeGraph } from './graph-answer.ts';
import { judgeDraft } from './judge-draft.ts';
import { bodyLimit, type GraphNeeds, TAG as tag } from './needs.ts';
import { normaliseGraph } from './normalise-graph.ts';
import { graphPicture, savedLines, validationLines } from './render.ts';
import { saveGraph } from './save-graph.ts';
import { FlowchartId, GraphResponse, GraphVersion, SaveResponse, ValidateResponse } from './wire.ts';

const path = '/api/v1/flowcharts/{flowchart_id}';
const nodes = z.array(SentNode).describe('Every node of the graph; one that is left out is removed');
const edges = z.array(SentEdge).describe('Every connector of the graph');
const base_version = GraphVersion.describe('Version you read; the save is refused when it is no longer the newest');

/** What a graph that was read also holds; sending it back is no mistake. */
const ANSWERED = new Set(['version', 'validation', 'id_map']);

const graph = defineOperation({
  name: 'flowchart.graph',
  summary: 'Read the graph of a flowchart',
  description: 'Nodes and connectors of the newest graph, or of the version you name, and whether a run can walk it.',
  input: z.strictObject({
    flowchart_id: FlowchartId,
    version: GraphVersion.optional().describe('A version to read; the newest when left out'),
  }),
  output: GraphResponse,
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: `${path}/graph`, tag },
  mcp: { tool: 'flowchart_graph' },
  cli: {
    command: 'flowchart graph <flowchart_id>',
    examples: ['flowright flowchart graph 3', 'flowright flowchart graph 3 --version 2 --json > graph.json'],
    render: graphPicture,
  },
  handle: async ({ database, principal }: Context<GraphNeeds>, input) => {
    const { queries } = database;
    const { vault_id } = principal;
    const flowchart = await findFlowchart(queries, vault_id, input.flowchart_id);
    const version = input.version ?? flowchart.graph_version;
    return graphAnswer(queries, { id: flowchart.id, vault_id, version }, await graphOf(queries, flowchart.id, version));
  },
});

interface PreparedSave {
  flowchart_id: number;
  draft: GraphDraft;
  base_version: number | undefined;
}

const save = defineOperation({
  name: 'flowchart.save',
  summary: 'Save the whole graph of a flowchart',
  description:
    'Takes every node and connector; what is left out is removed. Nodes and connectors keep their ids; new ones are called by a client_id of your choice, and id_map tells their ids. A graph that is broken in form is refused with the list of all its mistakes; one that merely cannot run is saved, and `validation` says why. An agent cannot set allow_agents on a human task; a person can.',
  // Checked by the handler, which tells every mistake with its place.
  input: z.looseObject({ flowchart_id: FlowchartId }),
  documentedInput: z.strictObject({ flowchart_id: FlowchartId, nodes, edges, base_version: base_version.optional() }),
  output: SaveResponse,
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'POST', path: `${path}/graph`, tag, bodyLimit },
  mcp: { tool: 'flowchart_save' },
  cli: { command: 'flowchart save <flowchart_id> <file>', byHand: true, render: savedLines },
  errors: ['graph_conflict'],
  audit: ({ flowchart_id }, { version }) => ({ flowchart_id, version }),
  prepare: async ({ database, principal }: Context<GraphNeeds>, input): Promise<PreparedSave> => {
    const { flowchart_id, ...sent } = input;
    await findFlowchart(database.queries, principal.vault_id, flowchart_id);
    const startNodeId = await startNodeOf(database.queries, flowchart_id);
    const { draft, issues } = normaliseGraph(sent, { types: nodeTypes, startNodeId });
    const all = [...issuesAround(sent, ['nodes', 'edges', 'base_version']), ...issues];
    if (all.length > 0) throw badRequest(all, 'flowchart.save');
    return { flowchart_id, draft, base_version: sent.base_version as number | undefined };
  },
  handle: async ({ trx, database, clock, principal }: Context<GraphNeeds>, prepared) => {
    const { vault_id, user_id: saved_by, kind: saved_as } = principal;
    const { dialect } = database;
    const { graph_version, id } = await holdFlowchart(trx, dialect, vault_id, prepared.flowchart_id);
    const flowchart = { id, vault_id, graph_version };
    const { draft, base_version } = prepared;
    const request = { flowchart, draft, base_version, types: nodeTypes, clock, dialect, saved_by, saved_as };
    const saved = await saveGraph(trx, request);
    const answer = await graphAnswer(trx, { id, vault_id, version: saved.version }, saved.graph);
    return { ...answer, id_map: saved.id_map };
  },
});

const validate = defineOperation({
  name: 'flowchart.validate',
  summary: 'Say whether a run can walk a graph',
  description:
    'Judges the newest graph or, when nodes and edges are given, that draft: what a save would refuse and what would keep it from running, in one list. Nothing is stored.',
  input: z.looseObject({ flowchart_id: FlowchartId }),
  documentedInput: z.strictObject({
    flowchart_id: FlowchartId,
    nodes: nodes.optional(),
    edges: edges.optional(),
  }),
  output: ValidateResponse,
  access: { can: 'read' },
  effect: 'read',
  http: [
    { method: 'GET', path: `${path}/validate`, tag },
    { method: 'POST', path: `${path}/validate`, tag, bodyLimit },
  ],
  mcp: { tool: 'flowchart_validate' },
  cli: {
    command: 'flowchart validate <flowchart_id>',
    byHand: true,
    render: validationLines,
    isBadNews: ({ valid }) => !valid,
  },
  handle: async ({ database, principal }: Context<GraphNeeds>, { flowchart_id, ...sent }) => {
    const { queries } = database;
    const { vault_id } = principal;
    const flowchart = await findFlowchart(queries, vault_id, flowchart_id);
    const subject = { id: flowchart_id, vault_id };
    assertShallow(sent, 'flowchart.validate');
    const around = issuesAround(sent, ['nodes', 'edges']);
    if (around.length > 0) throw badRequest(around, 'flowchart.validate');
    if (sent.nodes !== undefined || sent.edges !== undefined) {
      return { flowchart_id, version: null, ...(await judgeDraft(queries, subject, sent)) };
    }
    const version = flowchart.graph_version;
    const judged = await judgeGraph(queries, subject, await graphOf(queries, flowchart_id, version));
    return { flowchart_id, version, ...judged };
  },
});

/** Keys beside the graph that nobody knows, and a base version that is none. */
function issuesAround(sent: Record<string, unknown>, known: readonly string[]): Issue[] {
  const issues: Issue[] = Object.keys(sent)
    .filter((key) => !known.includes(key) && !ANSWERED.has(key))
    .map((key) => ({ code: 'unknown_key', message: 'is not a known key', path: jsonPointer([key.slice(0, 100)]) }));
  if (sent.base_version !== undefined && !GraphVersion.safeParse(sent.base_version).success) {
    issues.push({ code: 'field_not_integer', message: 'must be a version of the graph', path: '/base_version' });
  }
  return issues;
}

export const graphOperations = [graph, save, validate];
