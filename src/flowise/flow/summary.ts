import { cut } from '../../kernel/cut.ts';
import { hideSecretsInText } from '../../kernel/secret-text.ts';
import { inertLine } from '../../kernel/terminal.ts';
import { connectionOf } from './connections.ts';
import type { FlowData, FlowNode } from './model.ts';
import { type NodeView, referencesIn, viewOf } from './node-view.ts';
import { hiddenValue, passwordsFirst } from './secrets.ts';
import { VALUE_CHARS } from './value-text.ts';

/** A flow in a few lines: which nodes, what is set on them, how they hang together. Secrets are hidden. */
export interface FlowSummary {
  node_count: number;
  edge_count: number;
  nodes: NodeSummary[];
  /** `chatOpenAI_0 -> toolAgent_0.model`. */
  connections: string[];
  /** Ids of the nodes that the answer comes from: connected to, and connected to nothing. */
  ending_nodes: string[];
}

export interface NodeSummary {
  node_id: string;
  node_name: string;
  label: string;
  category: string;
  /** Null for a node that takes no credential. */
  credential_bound: boolean | null;
  /** What is set and not the default: texts, numbers and switches, cut short. */
  params: Record<string, string | number | boolean>;
}

export function summariseFlow(flow: FlowData): FlowSummary {
  const views = flow.nodes.map(viewOf);
  const choosers = new Set(views.filter((view) => view.outputs.length > 1).map((view) => view.id));
  return {
    node_count: flow.nodes.length,
    edge_count: flow.edges.length,
    nodes: flow.nodes.map((node, at) => summariseNode(node, views[at] as NodeView)),
    connections: flow.edges.map((edge) => {
      const { source, source_anchor, target, target_anchor } = connectionOf(edge);
      const from = choosers.has(source) && source_anchor !== '' ? `${source}.${source_anchor}` : source;
      return shortText(`${from} -> ${target_anchor === '' ? target : `${target}.${target_anchor}`}`, 200);
    }),
    ending_nodes: endingNodes(flow, views).map((id) => shortText(id, 200)),
  };
}

function summariseNode(node: FlowNode, view: NodeView): NodeSummary {
  return {
    node_id: shortText(node.id, 200),
    node_name: shortText(view.name, 200),
    label: shortText(view.label, VALUE_CHARS),
    category: shortText(view.category, VALUE_CHARS),
    credential_bound: takesCredential(view) ? view.credential !== null : null,
    params: summariseParams(view),
  };
}

function takesCredential(view: NodeView): boolean {
  return view.credential !== null || view.params.some((param) => param.type === 'credential');
}

function summariseParams(view: NodeView): NodeSummary['params'] {
  const params = passwordsFirst(view.params);
  const shown: [string, string | number | boolean][] = [];
  for (const [name, value] of Object.entries(view.values)) {
    if (!isScalar(value) || value === '' || name === 'credential' || name === 'FLOWISE_CREDENTIAL_ID') continue;
    // Connections tell these; and what equals its default needs no telling.
    if (referencesIn(value)?.length || isDefault(value, params.get(name)?.default)) continue;
    const hidden = hiddenValue(params.get(name), name, value);
    if (!isScalar(hidden)) continue;
    shown.push([shortText(name, VALUE_CHARS), typeof hidden === 'string' ? shortText(hidden, VALUE_CHARS) : hidden]);
  }
  return Object.fromEntries(shown);
}

/** The canvas stores numbers as texts or as numbers, as they were typed. */
function isDefault(value: string | number | boolean, standard: unknown): boolean {
  return isScalar(standard) ? String(value) === String(standard) : false;
}

/** As the server looks for them: nothing leaves them, and something arrives unless they stand alone. Notes are none. */
function endingNodes(flow: FlowData, views: readonly NodeView[]): string[] {
  const sources = new Set(flow.edges.map((edge) => edge.source));
  const targets = new Set(flow.edges.map((edge) => edge.target));
  const nodes = views.filter((view) => !view.isNote);
  return nodes
    .filter((view) => !sources.has(view.id) && (targets.has(view.id) || nodes.length === 1))
    .map((view) => view.id);
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Hidden before it is cut: half a secret has no shape any more. */
function shortText(text: string, most: number): string {
  return cut(inertLine(hideSecretsInText(text)), most);
}
