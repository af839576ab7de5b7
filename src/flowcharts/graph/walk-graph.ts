import type { GraphIndex } from './graph-index.ts';

export interface Walk {
  /** Reachable over solid connectors. */
  reached: ReadonlySet<number>;
  /** By node: those of its parents whose connector closes a loop through the node itself. */
  backParents: ReadonlyMap<number, ReadonlySet<number>>;
}

/** Walks the solid connectors from a node, depth first and without recursion: a graph may be one long chain. */
export function walk(index: GraphIndex, from: number): Walk {
  const reached = new Set<number>([from]);
  const backParents = new Map<number, Set<number>>();
  const open = new Set<number>([from]);
  const path: { id: number; at: number }[] = [{ id: from, at: 0 }];
  for (let top = path.at(-1); top; top = path.at(-1)) {
    const child = index.solidChildren(top.id)[top.at];
    if (child === undefined) {
      open.delete(top.id);
      path.pop();
      continue;
    }
    top.at += 1;
    if (open.has(child)) {
      const known = backParents.get(child);
      if (known) known.add(top.id);
      else backParents.set(child, new Set([top.id]));
    } else if (!reached.has(child) && index.node(child)) {
      reached.add(child);
      open.add(child);
      path.push({ id: child, at: 0 });
    }
  }
  return { reached, backParents };
}
