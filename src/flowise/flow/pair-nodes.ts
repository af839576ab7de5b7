import { stableStringify } from '../../kernel/canonical-json.ts';
import { meaningOfNode } from './meaning.ts';
import type { FlowData, FlowNode } from './model.ts';

/** Which node of one flow is which of the other. */
export interface Pairs {
  kept: { old: FlowNode; now: FlowNode }[];
  added: FlowNode[];
  removed: FlowNode[];
}

/** By id. In a broken flow several nodes have one: then those that mean the same are paired, and the rest in order. */
export function pairNodes(before: FlowData, after: FlowData): Pairs {
  const [old, now] = [byId(before.nodes), byId(after.nodes)];
  const pairs: Pairs = { kept: [], added: [], removed: [] };
  for (const [id, come] of now) {
    const gone = old.get(id) ?? [];
    old.delete(id);
    const [first, second] = gone.length * come.length > 1 ? alikeFirst(gone, come) : [gone, come];
    const both = Math.min(first.length, second.length);
    for (let at = 0; at < both; at += 1) {
      pairs.kept.push({ old: first[at] as FlowNode, now: second[at] as FlowNode });
    }
    pairs.removed.push(...first.slice(both));
    pairs.added.push(...second.slice(both));
  }
  for (const gone of old.values()) pairs.removed.push(...gone);
  return pairs;
}

function byId(nodes: readonly FlowNode[]): Map<string, FlowNode[]> {
  const groups = new Map<string, FlowNode[]>();
  for (const node of nodes) {
    const group = groups.get(node.id);
    if (group) group.push(node);
    else groups.set(node.id, [node]);
  }
  return groups;
}

/** Both lists with the nodes in front that have an equal in the other, in the same order. */
function alikeFirst(gone: readonly FlowNode[], come: readonly FlowNode[]): [FlowNode[], FlowNode[]] {
  const waiting = new Map<string, FlowNode[]>();
  for (const node of gone) {
    const text = stableStringify(meaningOfNode(node));
    const equals = waiting.get(text);
    if (equals) equals.push(node);
    else waiting.set(text, [node]);
  }
  const alike: { old: FlowNode; now: FlowNode }[] = [];
  const others = come.filter((now) => {
    const old = waiting.get(stableStringify(meaningOfNode(now)))?.pop();
    if (old) alike.push({ old, now });
    return old === undefined;
  });
  const paired = new Set(alike.map(({ old }) => old));
  return [
    [...alike.map(({ old }) => old), ...gone.filter((node) => !paired.has(node))],
    [...alike.map(({ now }) => now), ...others],
  ];
}
