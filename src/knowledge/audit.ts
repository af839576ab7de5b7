import type { FlowiseClient, NodeSchema } from '../flowise/index.ts';
import { refusal } from '../kernel/errors.ts';
import { compareNodes, type Difference, VERDICTS, type Verdict, worst } from './audit-compare.ts';
import { normaliseNode } from './normalise-node.ts';

export interface AuditedNode {
  node_type: string;
  verdict: Verdict;
  /** At most so many as are worth reading; `more` tells how many are left out. */
  differences: Difference[];
  more: number;
}

export interface NodeAudit {
  summary: { live: number; local: number; texts: number } & Record<Verdict, number>;
  /** Those that did not pass, worst first. */
  nodes: AuditedNode[];
}

const MAX_DIFFERENCES = 50;

/** What is known of a server's nodes against what it says itself, which is one request. */
export async function auditNodes(known: readonly NodeSchema[], client: FlowiseClient): Promise<NodeAudit> {
  const live = (await client.listNodes()).filter((api) => typeof api?.name === 'string').map(normaliseNode);
  if (live.length === 0) throw refusal('FLOWISE_BAD_ANSWER', `Flowise server ${client.server} lists no nodes.`);
  return compareCatalogues(known, live);
}

export function compareCatalogues(known: readonly NodeSchema[], live: readonly NodeSchema[]): NodeAudit {
  const local = new Map(known.map((node) => [node.node_type, node]));
  const there = new Map(live.map((node) => [node.node_type, node]));
  let texts = 0;
  const judged = [...there.values()].map((node): AuditedNode => {
    const mine = local.get(node.node_type);
    if (!mine) return lone(node.node_type, 'missing', 'CRITICAL');
    const comparison = compareNodes(mine, node);
    texts += comparison.texts;
    return audited(node.node_type, comparison.differences);
  });
  const extra = [...local.keys()].filter((type) => !there.has(type)).map((type) => lone(type, 'extra', 'MINOR'));
  const all = [...judged, ...extra];
  const count = (verdict: Verdict) => all.filter((node) => node.verdict === verdict).length;
  const counts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, count(verdict)])) as Record<Verdict, number>;
  const rank = ({ verdict }: AuditedNode) => VERDICTS.indexOf(verdict);
  return {
    summary: { live: there.size, local: local.size, texts, ...counts },
    nodes: all
      .filter(({ verdict }) => verdict !== 'PASS')
      .sort((one, other) => rank(other) - rank(one) || (one.node_type < other.node_type ? -1 : 1)),
  };
}

function audited(node_type: string, differences: Difference[]): AuditedNode {
  const more = Math.max(0, differences.length - MAX_DIFFERENCES);
  return { node_type, verdict: worst(differences), differences: differences.slice(0, MAX_DIFFERENCES), more };
}

/** On one side only. */
function lone(node_type: string, kind: 'missing' | 'extra', severity: 'CRITICAL' | 'MINOR'): AuditedNode {
  return audited(node_type, [{ path: '', kind, severity, snapshot: null, live: null }]);
}
