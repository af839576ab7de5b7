import * as z from 'zod';
import { textTable } from '../../kernel/terminal.ts';
import { type Context, defineOperation } from '../../operations/index.ts';
import { nodeTypes } from '../nodes/registry.ts';
import { diffGraphs, type GraphDiff } from './diff-graphs.ts';
import { findFlowchart } from './flowchart-store.ts';
import { graphOf } from './graph-answer.ts';
import { type GraphNeeds, TAG as tag } from './needs.ts';
import { FlowchartId, GraphVersion } from './wire.ts';

const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;

const versions = defineOperation({
  name: 'flowchart.versions',
  summary: 'List the versions of a graph, newest first',
  description: 'Every version that was saved, by whom and when. Runs stay on the version they began with.',
  input: z.strictObject({
    flowchart_id: FlowchartId,
    limit: z.int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE).describe('How many at most'),
    offset: z.int().min(0).default(0).describe('How many to pass over'),
  }),
  output: z
    .strictObject({
      flowchart_id: z.int(),
      versions: z.array(
        z.strictObject({
          version: z.int(),
          graph_sha256: z.string().describe('Equal for equal graphs'),
          created_by: z.string(),
          created_at: z.string(),
        }),
      ),
      count: z.int(),
      total_count: z.int(),
      limit: z.int(),
      offset: z.int(),
    })
    .meta({ id: 'FlowchartVersionsResponse' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/flowcharts/{flowchart_id}/versions', tag },
  mcp: { tool: 'flowchart_versions' },
  cli: {
    command: 'flowchart versions <flowchart_id>',
    examples: ['flowright flowchart versions 3'],
    render: ({ versions: all }) =>
      textTable(
        ['VERSION', 'SAVED', 'BY'],
        all.map(({ version, created_at, created_by }) => [String(version), created_at, created_by]),
      ),
  },
  handle: async ({ database, principal }: Context<GraphNeeds>, { flowchart_id, limit, offset }) => {
    await findFlowchart(database.queries, principal.vault_id, flowchart_id);
    const all = database.queries.selectFrom('flowchart_versions').where('flowchart_id', '=', flowchart_id);
    const rows = await all
      .select(['version', 'graph_sha256', 'created_by', 'created_at'])
      .orderBy('version', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
    const { total } = await all.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
    return { flowchart_id, versions: rows, count: rows.length, total_count: Number(total), limit, offset };
  },
});

const Changes = z.strictObject({
  added: z.array(z.int()),
  removed: z.array(z.int()),
  changed: z.array(z.strictObject({ id: z.int(), fields: z.array(z.string()) })),
});

const diff = defineOperation({
  name: 'flowchart.diff',
  summary: 'Tell how two versions of a graph differ',
  description: 'Nodes and connectors that were added, removed or changed, with the names of the fields.',
  input: z.strictObject({
    flowchart_id: FlowchartId,
    from: GraphVersion.optional().describe('The older version; the one before `to` when left out'),
    to: GraphVersion.optional().describe('The newer version; the newest when left out'),
  }),
  output: z
    .strictObject({ flowchart_id: z.int(), from: z.int(), to: z.int(), nodes: Changes, edges: Changes })
    .meta({ id: 'FlowchartDiffResponse' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/flowcharts/{flowchart_id}/diff', tag },
  mcp: { tool: 'flowchart_diff' },
  cli: {
    command: 'flowchart diff <flowchart_id>',
    examples: ['flowright flowchart diff 3', 'flowright flowchart diff 3 --from 1 --to 4'],
    render: diffLines,
  },
  handle: async ({ database, principal }: Context<GraphNeeds>, input) => {
    const { flowchart_id } = input;
    const { queries } = database;
    const flowchart = await findFlowchart(queries, principal.vault_id, flowchart_id);
    const to = input.to ?? flowchart.graph_version;
    const from = input.from ?? Math.max(1, to - 1);
    const [before, after] = [await graphOf(queries, flowchart_id, from), await graphOf(queries, flowchart_id, to)];
    return { flowchart_id, from, to, ...diffGraphs(before, after) };
  },
});

function diffLines(answer: GraphDiff & { from: number; to: number }): string {
  const lines = [...changeLines('node', answer.nodes), ...changeLines('connector', answer.edges)];
  const head = `version ${answer.from} to ${answer.to}`;
  return lines.length === 0 ? `${head}: no difference` : [head, ...lines].join('\n');
}

function changeLines(what: string, { added, removed, changed }: GraphDiff['nodes']): string[] {
  return [
    ...removed.map((id) => `- ${what} ${id}`),
    ...added.map((id) => `+ ${what} ${id}`),
    ...changed.map(({ id, fields }) => `~ ${what} ${id}: ${fields.join(', ')}`),
  ];
}

const types = defineOperation({
  name: 'flowchart.node_types',
  summary: 'List the types of nodes and what can be set on each',
  description: 'For each type: what may be bound to it, the config of a new node, and its fields with their defaults.',
  input: z.strictObject({}),
  output: z
    .strictObject({
      node_types: z.array(
        z.strictObject({
          name: z.string(),
          binds: z.strictObject({
            ref: z.enum(['none', 'required', 'auto', 'optional']),
            mcp: z.boolean(),
            attachments: z.boolean(),
          }),
          defaults: z.record(z.string(), z.unknown()).describe('Config of a node that was just made'),
          inspector: z.array(
            z.strictObject({
              key: z.string(),
              label: z.string(),
              control: z.string(),
              required: z.boolean().optional(),
              options: z.array(z.string()).optional(),
              default: z.unknown().optional(),
              minimum: z.number().optional(),
              maximum: z.number().optional(),
              help: z.string().optional(),
            }),
          ),
        }),
      ),
    })
    .meta({ id: 'FlowchartNodeTypesResponse' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/flowcharts/node-types', tag },
  mcp: { tool: 'flowchart_node_types' },
  cli: {
    command: 'flowchart node-types',
    render: ({ node_types }) => {
      const rows = node_types.flatMap(({ name, binds, inspector }) => {
        const settings = inspector.map((field) => [
          field.key,
          field.default === undefined ? '' : JSON.stringify(field.default),
          limitsOf(field),
        ]);
        const [first = ['', '', ''], ...more] = settings;
        return [[name, binds.ref, ...first], ...more.map((setting) => ['', '', ...setting])];
      });
      return textTable(['TYPE', 'REFERS', 'SETTING', 'DEFAULT', 'LIMITS'], rows);
    },
  },
  handle: () => ({
    node_types: [...nodeTypes.values()].map(({ name, binds, inspector }) => ({
      name,
      binds,
      defaults: Object.fromEntries(
        inspector.filter((field) => field.default !== undefined).map((field) => [field.key, field.default]),
      ),
      inspector: inspector.map(({ options, ...field }) => ({
        ...field,
        ...(options ? { options: [...options] } : {}),
      })),
    })),
  }),
});

/** What a setting takes: one of its options, a number within bounds, or whatever its control holds. */
function limitsOf(field: {
  control: string;
  options?: readonly string[] | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  required?: boolean | undefined;
}): string {
  const { control, options, minimum, maximum, required } = field;
  const bounds = [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
  ];
  const takes = options ? options.join(' | ') : [control, ...bounds].join(', ');
  return required ? `${takes} (required)` : takes;
}

export const versionOperations = [versions, diff, types];
