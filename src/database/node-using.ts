import type { Queries } from './database.ts';

/** A node of a saved graph that works on this memory, plan or milestone, if there is one. */
export function nodeUsing(queries: Queries, nodeType: 'memory' | 'plan' | 'milestone', refId: number) {
  return queries
    .selectFrom('flowchart_nodes')
    .innerJoin('flowcharts', 'flowcharts.id', 'flowchart_nodes.flowchart_id')
    .select([
      'flowchart_nodes.id as flowchart_node_id',
      'flowcharts.id as flowchart_id',
      'flowcharts.name as flowchart_name',
    ])
    .where('flowchart_nodes.node_type', '=', nodeType)
    .where('flowchart_nodes.ref_id', '=', refId)
    .where('flowchart_nodes.removed_at', 'is', null)
    .orderBy('flowchart_nodes.id')
    .executeTakeFirst();
}
