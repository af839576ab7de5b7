import { stableStringify } from '../../kernel/canonical-json.ts';
import type { Connection } from './diff.ts';
import { meaningOfEdge } from './meaning.ts';
import type { FlowData, FlowEdge } from './model.ts';
import { referencesIn, sourceAnchorOf, targetAnchorOf } from './node-view.ts';
import { same } from './same.ts';

export function connectionOf(edge: FlowEdge): Connection {
  return {
    source: edge.source,
    source_anchor: sourceAnchorOf(edge),
    target: edge.target,
    target_anchor: targetAnchorOf(edge),
  };
}

/** Edges of one flow that the other lacks, and whether those that both have mean the same. */
export interface EdgeChanges {
  added: Connection[];
  removed: Connection[];
  /** The same connections, but a label or a handle's types differ. */
  reworded: boolean;
}

export function compareEdges(before: FlowData, after: FlowData): EdgeChanges {
  const [old, now] = [byConnection(before.edges), byConnection(after.edges)];
  const changes: EdgeChanges = { added: [], removed: [], reworded: false };
  for (const key of new Set([...old.keys(), ...now.keys()])) {
    const [gone, come] = [old.get(key) ?? [], now.get(key) ?? []];
    changes.removed.push(...gone.slice(come.length).map(connectionOf));
    changes.added.push(...come.slice(gone.length).map(connectionOf));
    if (gone.length === come.length) changes.reworded ||= wording(gone) !== wording(come);
  }
  return changes;
}

/** One connection may be drawn twice; how often is part of what differs. */
function byConnection(edges: readonly FlowEdge[]): Map<string, FlowEdge[]> {
  const groups = new Map<string, FlowEdge[]>();
  for (const edge of edges) {
    const key = JSON.stringify(Object.values(connectionOf(edge)));
    const group = groups.get(key);
    if (group) group.push(edge);
    else groups.set(key, [edge]);
  }
  return groups;
}

function wording(edges: readonly FlowEdge[]): string {
  return edges
    .map((edge) => stableStringify(meaningOfEdge(edge)))
    .sort()
    .join();
}

/** Which nodes each input is connected to, by edges. */
export type Sources = ReadonlyMap<string, readonly string[]>;

export function sourcesByInput(flow: FlowData): Sources {
  const sources = new Map<string, string[]>();
  for (const edge of flow.edges) {
    const key = inputKey(edge.target, targetAnchorOf(edge));
    const known = sources.get(key);
    if (known) known.push(edge.source);
    else sources.set(key, [edge.source]);
  }
  return sources;
}

function inputKey(nodeId: string, anchor: string): string {
  return JSON.stringify([nodeId, anchor]);
}

/** Connecting writes the source into the input; where edges and input agree, the connection says it all. */
export function isToldByEdges(nodeId: string, name: string, value: unknown, sources: Sources): boolean {
  const references = referencesIn(value);
  if (references === null) return false;
  return same(references.sort(), [...(sources.get(inputKey(nodeId, name)) ?? [])].sort());
}
