import { inertLine, textTable } from '../kernel/terminal.ts';
import type { KnowledgeAuditResponse, KnowledgeRefreshResponse, KnowledgeStatusResponse } from './answers.ts';

export function statusTable({ server, parts }: KnowledgeStatusResponse): string {
  const rows = parts.map((part) => [
    part.part,
    String(part.items),
    part.origin,
    part.state,
    duration(part.age_seconds),
    part.ttl_seconds === null ? '-' : duration(part.ttl_left_seconds),
    String(part.repairs),
    sourceWords(part),
  ]);
  const table = textTable(['part', 'items', 'from', 'fingerprint', 'age', 'good for', 'repairs', 'source'], rows);
  const reasons = parts.flatMap(({ part, reason }) => (reason ? [inertLine(`${part}: ${reason}. Refresh it.`)] : []));
  const whose = server === null ? 'No Flowise server is configured: this came with Flowright.' : `Server ${server}`;
  return [inertLine(whose), '', table, ...(reasons.length > 0 ? ['', ...reasons] : [])].join('\n');
}

/** Which texts these are: those of the reference, those of the server, or both. */
function sourceWords({ source, source_host }: KnowledgeStatusResponse['parts'][number]): string {
  if (source === null || source === 'reference') return source ?? '-';
  const isBoth = source === 'repair' || source.includes('reference');
  const host = source_host ?? source;
  return isBoth ? `reference, ${host}` : host;
}

export function refreshLines({ parts, dry_run }: KnowledgeRefreshResponse): string {
  const lines = parts.flatMap(({ line, reference }) => [
    line,
    ...(reference ? [`reference written to ${reference}`] : []),
  ]);
  return [...lines, ...(dry_run ? ['Dry run: nothing was written.'] : [])].map(inertLine).join('\n');
}

const MAX_NODES = 30;
const MAX_DIFFERENCES = 5;

export function auditText({ server, summary, nodes, origin }: KnowledgeAuditResponse): string {
  const { live, local, PASS, MINOR, MAJOR, CRITICAL } = summary;
  const known = origin === 'own' ? 'its snapshot' : 'the baseline';
  const lines = [
    `Server ${server}: ${live} nodes, ${local} in ${known}: ${PASS} PASS, ${MINOR} MINOR, ${MAJOR} MAJOR, ${CRITICAL} CRITICAL`,
  ];
  for (const node of nodes.slice(0, MAX_NODES)) {
    lines.push(`${node.verdict.padEnd(8)}  ${node.node_type}`);
    for (const { path, kind, snapshot, live: said } of node.differences.slice(0, MAX_DIFFERENCES)) {
      const values = kind === 'changed' ? `: ${snapshot} here, ${said} there` : '';
      lines.push(`            ${path || 'the node'} ${kind}${values}`);
    }
    const left = node.differences.length + node.more - MAX_DIFFERENCES;
    if (left > 0) lines.push(`            and ${left} more`);
  }
  if (nodes.length > MAX_NODES) lines.push(`and ${nodes.length - MAX_NODES} more nodes: --json shows them`);
  if (MAJOR + CRITICAL > 0) lines.push('To bring it up to date: flowright knowledge refresh --nodes --from-api');
  return lines.map(lineOf).join('\n');
}

/** Indentation is ours; the rest is not. */
function lineOf(line: string): string {
  const blanks = /^ */.exec(line)?.[0] ?? '';
  return blanks + inertLine(line.slice(blanks.length));
}

const UNITS: readonly [number, string][] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
];

function duration(seconds: number | null): string {
  if (seconds === null) return '-';
  const unit = UNITS.find(([size]) => seconds >= size);
  return unit ? `${Math.floor(seconds / unit[0])} ${unit[1]}` : `${seconds} s`;
}
