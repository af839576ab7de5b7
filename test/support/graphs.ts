import type { Graph, GraphEdge } from '../../src/flowcharts/graph/model.ts';
import { graphEdge, graphNode } from './run-rows.ts';

type Json = Record<string, unknown>;

/** A graph without a database: types by node id, connectors as [source, target] in the order of their ids, from 1. */
export function plainGraph(
  types: Record<number, string>,
  edges: readonly (readonly [number, number, Partial<GraphEdge>?])[],
  configs: Record<number, Json> = {},
): Graph {
  return {
    nodes: Object.entries(types).map(([id, type]) => ({
      ...graphNode(Number(id), type),
      config: configs[Number(id)] ?? {},
    })),
    edges: edges.map(([source, target, more], at) => graphEdge(at + 1, source, target, more)),
  };
}
