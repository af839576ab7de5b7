import { inertLine } from '../../kernel/terminal.ts';

interface PictureNode {
  id: number;
  node_type: string;
  title: string | null;
}

interface PictureEdge {
  source_node_id: number;
  target_node_id: number;
  edge_mode: string;
  condition_key: string | null;
  label: string | null;
}

const ARROWS: Record<string, string> = { solid: '──▶', dotted: '┄┄▶', dashed: '╌╌▶' };
const MAX_LINES = 200;
/** Deeper than a terminal is wide, indenting says nothing more. */
const MAX_INDENT = 20;

/**
 * A graph as indented text, from its start: each node once with what it leads to, later ones by their id only. What
 * nothing leads to comes at the end.
 */
export function picture(graph: { nodes: readonly PictureNode[]; edges: readonly PictureEdge[] }): string {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const outgoing = new Map<number, PictureEdge[]>();
  for (const edge of graph.edges) {
    outgoing.set(edge.source_node_id, outgoing.get(edge.source_node_id) ?? []);
    outgoing.get(edge.source_node_id)?.push(edge);
  }
  const lines: string[] = [];
  const drawn = new Set<number>();
  const draw = (root: PictureNode): void => {
    const open: { node: PictureNode | undefined; id: number; arrow: string; depth: number }[] = [
      { node: root, id: root.id, arrow: '', depth: 0 },
    ];
    for (let next = open.pop(); next && lines.length <= MAX_LINES; next = open.pop()) {
      const { node, id, arrow, depth } = next;
      const indent = '  '.repeat(Math.min(depth, MAX_INDENT));
      const isAgain = drawn.has(id);
      lines.push(`${indent}${arrow}${node ? nodeLine(node, isAgain) : `node ${id} (missing)`}`);
      if (isAgain || !node) continue;
      drawn.add(id);
      for (const edge of (outgoing.get(id) ?? []).toReversed()) {
        const target = edge.target_node_id;
        open.push({ node: nodes.get(target), id: target, arrow: arrowOf(edge), depth: depth + 1 });
      }
    }
  };
  const starts = graph.nodes.filter(({ node_type }) => node_type === 'start');
  for (const node of [...starts, ...graph.nodes]) if (!drawn.has(node.id) && lines.length <= MAX_LINES) draw(node);
  if (lines.length <= MAX_LINES) return lines.join('\n');
  return [...lines.slice(0, MAX_LINES), `(cut short: ${graph.nodes.length} nodes; --json has them all)`].join('\n');
}

function nodeLine({ id, node_type, title }: PictureNode, isAgain: boolean): string {
  const name = `[${id}] ${node_type}${title === null ? '' : ` ${inertLine(title)}`}`;
  return isAgain ? `${name} (above)` : name;
}

function arrowOf({ edge_mode, condition_key, label }: PictureEdge): string {
  const words = [condition_key, label].filter((word): word is string => word !== null && word !== '');
  const said = words.length > 0 ? ` (${words.map(inertLine).join(': ')})` : '';
  return `${ARROWS[edge_mode] ?? '──▶'}${said} `;
}
