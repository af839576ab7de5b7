import * as z from 'zod';
import { badRequest, refusal } from '../kernel/errors.ts';
import { type Context, defineOperation, traceOf, traceOutput } from '../operations/index.ts';
import { type ArtifactNeeds, artifactOf, artifactPage, artifactPageOutput, Id, pageOf } from './page.ts';
import { ArtifactRecord } from './record.ts';

const PATH = '/api/v1/flowcharts/{flowchart_id}/nodes/{flowchart_node_id}/decision-artifacts';
const flowchart = Id.describe('Id of the flowchart');
const node = Id.describe('Id of the decision node');

const list = defineOperation({
  name: 'artifact.of_decision_list',
  summary: 'List what decision nodes decided, or read one decision',
  description:
    'Decision artifacts, newest first: which connectors matched and why. With artifact_id the answer also has that one as item.',
  input: z.strictObject({
    flowchart_id: flowchart.optional(),
    flowchart_node_id: node.optional(),
    flowchart_run_id: Id.optional().describe('Only of this run'),
    flowchart_run_node_id: Id.optional().describe('Only of this node run'),
    artifact_id: Id.optional().describe('Only this one'),
    ...artifactPage,
  }),
  output: z
    .strictObject({
      ok: z.literal(true),
      flowchart_id: flowchart.optional(),
      flowchart_node_id: node.optional(),
      ...artifactPageOutput,
      item: ArtifactRecord.optional().describe('The one that was asked for by its id'),
      ...traceOutput,
    })
    .meta({ id: 'DecisionArtifactListResponse' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: PATH, tag: 'Artifacts' },
  mcp: { tool: 'llmctl_get_decision_artifact' },
  errors: ['NOT_FOUND'],
  handle: async (context: Context<ArtifactNeeds>, { order, limit, offset, ...asked }) => {
    const { flowchart_id, flowchart_node_id, artifact_id } = asked;
    await assertDecisionNode(context, flowchart_id, flowchart_node_id);
    const filter = { ...asked, artifact_type: 'decision' };
    const item = artifact_id === undefined ? undefined : await artifactOf(context, { ...filter, artifact_id });
    return {
      ok: true as const,
      ...(flowchart_id === undefined ? {} : { flowchart_id }),
      ...(flowchart_node_id === undefined ? {} : { flowchart_node_id }),
      ...(await pageOf(context, filter, { order, limit, offset })),
      ...(item ? { item } : {}),
      ...traceOf(context),
    };
  },
});

const get = defineOperation({
  name: 'artifact.of_decision_get',
  summary: 'Read one artifact of a decision node',
  input: z.strictObject({
    flowchart_id: flowchart,
    flowchart_node_id: node,
    artifact_id: Id.describe('Id of the artifact'),
  }),
  output: z
    .strictObject({
      ok: z.literal(true),
      flowchart_id: flowchart,
      flowchart_node_id: node,
      item: ArtifactRecord,
      ...traceOutput,
    })
    .meta({ id: 'DecisionArtifactResponse' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: `${PATH}/{artifact_id}`, tag: 'Artifacts' },
  errors: ['NOT_FOUND'],
  handle: async (context: Context<ArtifactNeeds>, input) => {
    const { flowchart_id, flowchart_node_id } = input;
    await assertDecisionNode(context, flowchart_id, flowchart_node_id);
    const item = await artifactOf(context, { ...input, artifact_type: 'decision' });
    return { ok: true as const, flowchart_id, flowchart_node_id, item, ...traceOf(context) };
  },
});

/** A node that was removed from the graph still has its history. */
async function assertDecisionNode(
  { database, principal }: Context<ArtifactNeeds>,
  flowchartId: number | undefined,
  nodeId: number | undefined,
): Promise<void> {
  if (flowchartId !== undefined) {
    const row = await database.queries
      .selectFrom('flowcharts')
      .select('id')
      .where('id', '=', flowchartId)
      .where('vault_id', '=', principal.vault_id)
      .executeTakeFirst();
    if (!row) throw refusal('NOT_FOUND', `There is no flowchart ${flowchartId} that you may see.`);
  }
  if (nodeId === undefined) return;
  const found = await database.queries
    .selectFrom('flowchart_nodes as node')
    .innerJoin('flowcharts as flowchart', 'flowchart.id', 'node.flowchart_id')
    .select(['node.node_type', 'node.flowchart_id'])
    .where('node.id', '=', nodeId)
    .where('flowchart.vault_id', '=', principal.vault_id)
    .executeTakeFirst();
  if (!found || (flowchartId !== undefined && found.flowchart_id !== flowchartId)) {
    throw refusal('NOT_FOUND', `There is no node ${nodeId} in that flowchart.`);
  }
  if (found.node_type !== 'decision') {
    const message = `must be a decision node, and node ${nodeId} is a ${found.node_type} node`;
    throw badRequest([{ code: 'not_a_decision', message, path: '/flowchart_node_id' }], 'decision artifacts');
  }
}

export const decisionOperations = [list, get];
