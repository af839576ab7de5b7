import type { Trx } from '../../database/index.ts';
import { isoNow } from '../../kernel/clock.ts';
import { createMemory } from '../../memories/index.ts';
import { createMilestone, NEW_MILESTONE } from '../../milestones/index.ts';
import { createPlan } from '../../plans/index.ts';
import type { GraphNode } from './model.ts';
import { refKey, refsThere } from './ref-facts.ts';
import { isAutoRef } from './ref-rules.ts';
import type { SaveRequest } from './save-graph.ts';

/** Nodes with what they work on: a plan, milestone or memory that is not there is made, named after the node. */
export async function bindRefs(trx: Trx, request: SaveRequest, nodes: readonly GraphNode[]): Promise<GraphNode[]> {
  const auto = nodes.filter((node) => isAutoRef(node, request.types.get(node.node_type)));
  const there = await refsThere(trx, request.flowchart.vault_id, auto);
  const made = new Map<number, number>();
  for (const node of auto) {
    if (node.ref_id === null || !there.has(refKey(node))) made.set(node.id, await makeRef(trx, request, node));
  }
  return nodes.map((node) => ({ ...node, ref_id: made.get(node.id) ?? node.ref_id }));
}

async function makeRef(trx: Trx, request: SaveRequest, node: GraphNode): Promise<number> {
  const { dialect, clock, flowchart } = request;
  const { vault_id } = flowchart;
  const label = node.title ?? `Flowchart ${flowchart.id} node ${node.id}`;
  switch (node.node_type) {
    case 'plan': {
      const plan = { vault_id, name: named(label, 'plan'), description: null, now: isoNow(clock) };
      return (await createPlan(trx, dialect, plan)).id;
    }
    case 'milestone': {
      const fields = { ...NEW_MILESTONE, name: named(label, 'milestone') };
      return (await createMilestone(trx, dialect, { vault_id, fields, now: isoNow(clock) })).id;
    }
    case 'memory':
      // Its first text comes from a run; a placeholder would be found by every search until then.
      return (await createMemory(trx, dialect, clock, { vault_id, title: label, description: '' })).id;
    default:
      throw new Error(`a save cannot make what a ${node.node_type} node refers to`);
  }
}

const MAX_NAME = 255;

function named(label: string, kind: string): string {
  return `${[...label].slice(0, MAX_NAME - kind.length - 1).join('')} ${kind}`;
}
