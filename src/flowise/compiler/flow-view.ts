import type { Issue } from '../../kernel/errors.ts';
import type { FlowData, FlowEdge, FlowNode } from '../flow/model.ts';
import { isAgentflow } from './kinds.ts';

/** A flow with what every check asks of it, found once. */
export interface FlowView {
  flow: FlowData;
  agentflow: boolean;
  byId: ReadonlyMap<string, FlowNode>;
  from: ReadonlyMap<string, readonly FlowEdge[]>;
  to: ReadonlyMap<string, readonly FlowEdge[]>;
}

/**
 * One thing that is wrong. An error breaks the canvas or the server; something incomplete is saved but does not answer
 * until it is filled in; a warning may be meant.
 */
export interface Finding {
  weight: 'error' | 'incomplete' | 'warning';
  /** Same code, same node, same place: the same thing, wherever in the text it stands. */
  key: string;
  issue: Issue;
}

export interface Where {
  /** JSON pointer into the flow. */
  path: string;
  /** What it is about, without positions: an id, an id and an input. */
  subject: string;
}

export interface Findings {
  readonly all: readonly Finding[];
  error(code: string, where: Where, message: string): void;
  incomplete(code: string, where: Where, message: string): void;
  warning(code: string, where: Where, message: string): void;
}

export function createFindings(): Findings {
  const all: Finding[] = [];
  const adds =
    (weight: Finding['weight']) =>
    (code: string, { path, subject }: Where, message: string): void => {
      all.push({ weight, key: `${code} ${subject}`, issue: { code, message, path } });
    };
  return { all, error: adds('error'), incomplete: adds('incomplete'), warning: adds('warning') };
}

export function viewFlow(flow: FlowData): FlowView {
  const byId = new Map<string, FlowNode>();
  for (const node of flow.nodes) if (!byId.has(node.id)) byId.set(node.id, node);
  const from = new Map<string, FlowEdge[]>();
  const to = new Map<string, FlowEdge[]>();
  for (const edge of flow.edges) {
    into(from, edge.source, edge);
    into(to, edge.target, edge);
  }
  return { flow, agentflow: isAgentflow(flow), byId, from, to };
}

function into(index: Map<string, FlowEdge[]>, key: string, edge: FlowEdge): void {
  const held = index.get(key);
  if (held) held.push(edge);
  else index.set(key, [edge]);
}

/** A name as one step of a JSON pointer. */
export function step(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
