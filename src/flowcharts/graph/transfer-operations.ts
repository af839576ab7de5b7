import * as z from 'zod';
import { badRequest } from '../../kernel/errors.ts';
import { inertLine } from '../../kernel/terminal.ts';
import { type Context, defineOperation } from '../../operations/index.ts';
import { nodeTypes } from '../nodes/registry.ts';
import { exportFlowchart } from './export-flowchart.ts';
import { FlowchartFile } from './flowchart-file.ts';
import { findFlowchart } from './flowchart-store.ts';
import { graphAnswer, graphOf } from './graph-answer.ts';
import { importFlowchart } from './import-flowchart.ts';
import { bodyLimit, type GraphNeeds, TAG as tag } from './needs.ts';
import { type ReadFile, readFlowchartFile } from './read-flowchart-file.ts';
import { flowchartLine, verdict } from './render.ts';
import { Flowchart, FlowchartId, GraphVersion, SaveResponse } from './wire.ts';

const exporting = defineOperation({
  name: 'flowchart.export',
  summary: 'Write a flowchart as one JSON file',
  description:
    'The flowchart, its graph and what it works on (plans, milestones, memories) as flowchart_import takes them, in any vault of any hub. Attachments are named, not included.',
  input: z.strictObject({
    flowchart_id: FlowchartId,
    version: GraphVersion.optional().describe('A version to write; the newest when left out'),
  }),
  output: FlowchartFile,
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/flowcharts/{flowchart_id}/export', tag },
  mcp: { tool: 'flowchart_export' },
  cli: {
    command: 'flowchart export <flowchart_id>',
    byHand: true,
    render: (payload) => JSON.stringify(payload, null, 2),
  },
  handle: async ({ database, principal }: Context<GraphNeeds>, { flowchart_id, version }) => {
    const { queries } = database;
    const flowchart = await findFlowchart(queries, principal.vault_id, flowchart_id);
    const graph = await graphOf(queries, flowchart_id, version ?? flowchart.graph_version);
    return exportFlowchart(queries, principal.vault_id, flowchart, graph);
  },
});

const importing = defineOperation({
  name: 'flowchart.import',
  summary: 'Make a flowchart from a JSON file',
  description:
    'Makes a new flowchart, and plans, milestones and memories of its own, from what flowchart_export wrote. A file that is wrong in any place is refused with the list of all of them. Agents cannot import a human task with allow_agents.',
  // Checked by the handler, which tells every mistake with its place.
  input: z.looseObject({}),
  documentedInput: z.strictObject(FlowchartFile.shape),
  output: z
    .strictObject({
      flowchart: Flowchart,
      ...SaveResponse.shape,
      warnings: z
        .array(z.strictObject({ code: z.string(), message: z.string(), path: z.string() }))
        .describe('What the file names and this vault does not have'),
    })
    .meta({ id: 'FlowchartImportResponse' }),
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/flowcharts/import', status: 201, tag, bodyLimit },
  mcp: { tool: 'flowchart_import' },
  cli: {
    command: 'flowchart import <file>',
    byHand: true,
    render: (answer) =>
      [
        flowchartLine(answer),
        ...answer.warnings.map(({ message, path }) => `  ${inertLine(message)} (${inertLine(path)})`),
        verdict(answer.validation),
      ].join('\n'),
  },
  audit: (_input, { flowchart }) => ({ flowchart_id: flowchart.id }),
  prepare: (_context: Context<GraphNeeds>, raw): ReadFile => {
    const { file, issues } = readFlowchartFile(raw, nodeTypes);
    if (file === null) throw badRequest(issues, 'flowchart.import');
    return file;
  },
  handle: async ({ trx, database, clock, principal }: Context<GraphNeeds>, file) => {
    const { vault_id, user_id: created_by, kind: created_as } = principal;
    const request = { vault_id, clock, dialect: database.dialect, created_by, created_as, file };
    const { flowchart, saved, warnings } = await importFlowchart(trx, request);
    const answer = await graphAnswer(trx, { id: flowchart.id, vault_id, version: saved.version }, saved.graph);
    return { flowchart, ...answer, id_map: saved.id_map, warnings };
  },
});

export const transferOperations = [exporting, importing];
