import { cut } from '../../kernel/cut.ts';
import type { FlowSummary, NodeSummary } from './summary.ts';

/** What a prompt has room for. */
export const SUMMARY_CHARS = 2_000;

/**
 * The summary as text for a prompt. The ids of all nodes are told whatever else has to go, because whoever changes a
 * flow names nodes by them: first the parameters go, then the connections, then labels, and only a flow whose bare ids
 * do not fit is cut, which the text then says.
 */
export function summaryText(summary: FlowSummary, { maxChars = SUMMARY_CHARS }: { maxChars?: number } = {}): string {
  const head = headline(summary);
  const named = summary.nodes.map(nodeName);
  const withParams = summary.nodes.map((node, at) => `${named[at]}${paramsText(node)}`);
  const connections = summary.connections.length > 0 ? ['connections:', ...summary.connections] : [];
  const attempts = [
    [head, ...withParams, ...connections],
    [head, ...named, ...connections],
    [head, ...named],
    [head, summary.nodes.map((node) => node.node_id).join(' ')],
  ];
  const fitting = attempts.map((lines) => lines.join('\n')).find((text) => text.length <= maxChars);
  return fitting ?? bareIds(head, summary.nodes, maxChars);
}

function headline({ node_count, edge_count, ending_nodes }: FlowSummary): string {
  const ending = ending_nodes.length > 0 ? `, ends at ${cut(ending_nodes.join(', '), 120)}` : '';
  return `${node_count} nodes, ${edge_count} connections${ending}`;
}

function nodeName({ node_id, node_name, label, credential_bound }: NodeSummary): string {
  // By habit the id starts with the name; then the name need not be said twice.
  const name = node_id.replace(/_\d+$/, '') === node_name ? '' : ` ${node_name}`;
  const credential = credential_bound === null ? '' : credential_bound ? ', credential bound' : ', no credential';
  return `[${node_id}]${name} "${label}"${credential}`;
}

function paramsText({ params }: NodeSummary): string {
  const told = Object.entries(params).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return told.length === 0 ? '' : `: ${told.join(', ')}`;
}

function bareIds(head: string, nodes: readonly NodeSummary[], maxChars: number): string {
  const room = maxChars - head.length - ' … and 99999 more'.length - 1;
  const ids: string[] = [];
  let used = 0;
  for (const { node_id } of nodes) {
    used += node_id.length + 1;
    if (used > room) break;
    ids.push(node_id);
  }
  return cut(`${head}\n${ids.join(' ')} … and ${nodes.length - ids.length} more`, maxChars);
}
