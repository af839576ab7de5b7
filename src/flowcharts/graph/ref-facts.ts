import type { Queries } from '../../database/index.ts';
import { chunksOf } from './chunks.ts';
import type { GraphNode } from './model.ts';
import type { RefFacts } from './validate-graph.ts';

const TABLES = { plan: 'plans', milestone: 'milestones', memory: 'memories', flowchart: 'flowcharts' } as const;
export type RefKind = keyof typeof TABLES;

type Referring = Pick<GraphNode, 'node_type' | 'ref_id'>;

/** Which of the things that nodes refer to are there, in this vault. */
export async function refsThere(
  queries: Queries,
  vaultId: string,
  nodes: readonly Referring[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const kind of Object.keys(TABLES) as RefKind[]) {
    const wanted = nodes.flatMap(({ node_type, ref_id }) => (node_type === kind && ref_id !== null ? [ref_id] : []));
    for (const ids of chunksOf([...new Set(wanted)])) {
      const rows = await queries
        .selectFrom(TABLES[kind])
        .select('id')
        .where('vault_id', '=', vaultId)
        .where('id', 'in', ids)
        .execute();
      for (const { id } of rows) found.add(refKey({ node_type: kind, ref_id: Number(id) }));
    }
  }
  return found;
}

export function refKey({ node_type, ref_id }: Referring): string {
  return `${node_type} ${ref_id}`;
}

/** Everything that the judge of a graph asks of the database. */
export async function loadRefFacts(
  queries: Queries,
  flowchart: { id: number | null; vault_id: string },
  nodes: readonly GraphNode[],
): Promise<RefFacts> {
  const there = await refsThere(queries, flowchart.vault_id, nodes);
  const subflows = nodes.flatMap(({ node_type, ref_id }) =>
    node_type === 'flowchart' && ref_id !== null ? [ref_id] : [],
  );
  const returning = flowchart.id === null ? new Set<number>() : await leadBack(queries, flowchart.id, subflows);
  return {
    // A type that does not exist refers to nothing we know; that it does not exist is said elsewhere.
    isThere: (node) => !Object.hasOwn(TABLES, node.node_type) || there.has(refKey(node)),
    returns: (node) => node.node_type === 'flowchart' && node.ref_id !== null && returning.has(node.ref_id),
  };
}

/** Those of the flowcharts that come back to `home`, themselves or through others. */
async function leadBack(queries: Queries, home: number, from: readonly number[]): Promise<ReadonlySet<number>> {
  const callers = new Map<number, number[]>();
  const seen = new Set<number>(from);
  let level = [...seen].filter((id) => id !== home);
  while (level.length > 0) {
    const found: number[] = [];
    for (const { flowchart_id, ref_id } of await subflowsOf(queries, level)) {
      const known = callers.get(ref_id);
      if (known) known.push(flowchart_id);
      else callers.set(ref_id, [flowchart_id]);
      if (ref_id === home || seen.has(ref_id)) continue;
      seen.add(ref_id);
      found.push(ref_id);
    }
    level = found;
  }
  const returning = new Set<number>([home]);
  const open = [home];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const caller of callers.get(id) ?? []) {
      if (returning.has(caller)) continue;
      returning.add(caller);
      open.push(caller);
    }
  }
  return returning;
}

async function subflowsOf(queries: Queries, flowcharts: number[]): Promise<{ flowchart_id: number; ref_id: number }[]> {
  const rows = [];
  for (const ids of chunksOf(flowcharts)) {
    rows.push(
      ...(await queries
        .selectFrom('flowchart_nodes')
        .select(['flowchart_id', 'ref_id'])
        .distinct()
        .where('flowchart_id', 'in', ids)
        .where('node_type', '=', 'flowchart')
        .where('ref_id', 'is not', null)
        .where('removed_at', 'is', null)
        .execute()),
    );
  }
  return rows.map(({ flowchart_id, ref_id }) => ({ flowchart_id, ref_id: Number(ref_id) }));
}
