import type { NodeSchema } from '../flowise/index.ts';
import { yaml } from '../kernel/yaml.ts';
import { blockOf, completeEntry } from './reference-entry.ts';
import { findSections, type ReferenceIssue, readHeadings, type Section } from './reference-sections.ts';

export type { ReferenceIssue } from './reference-sections.ts';

/**
 * The node reference: a Markdown file that people read and edit. `## Category (count)`, then for each node
 * `### Label (`name`)` and one fenced YAML block with everything that cannot be derived. What stands outside the
 * blocks is for readers. Nothing is lost on the way: what is written here and parsed again is deep-equal.
 */
export function writeReference(nodes: readonly NodeSchema[], options: { preface?: string } = {}): string {
  const parts = [options.preface ?? PREFACE];
  for (const [category, members] of byCategory(nodes)) {
    const heading = `## ${oneLine(category)} (${members.length})`;
    parts.push(heading, ...members.map((node) => nodeText(node, heading)));
  }
  return `${parts.join('\n\n')}\n`;
}

/** Never throws: what cannot be read is told with its line, and the nodes that can be read are given. */
export function parseReference(markdown: string): { nodes: NodeSchema[]; issues: ReferenceIssue[] } {
  const { sections, issues } = findSections(markdown);
  const nodes: NodeSchema[] = [];
  const lineOf = new Map<string, number>();
  for (const section of sections) {
    const read = readSection(section);
    issues.push(...read.issues);
    if (!read.node) continue;
    const { node_type } = read.node;
    const earlier = lineOf.get(node_type);
    if (earlier !== undefined) {
      issues.push({
        code: 'duplicate_node',
        message: `${node_type} is described twice, first in line ${earlier}. Remove one of the two.`,
        line: section.line,
        node_type,
      });
      continue;
    }
    lineOf.set(node_type, section.line);
    nodes.push(read.node);
  }
  return { nodes, issues: issues.sort((one, other) => one.line - other.line) };
}

const PREFACE = `# Flowise node reference

What is known of each node type of Flowise. \`flowright knowledge refresh --nodes\` reads this file and writes the node
snapshot from it; the program itself never loads it.

Each node has a heading with its label and its name, and one YAML block. The block is data, everything else is for
readers. In a block, \`anchors\` are inputs that another node is connected to and \`params\` are inputs that are filled in.
Left out is what can be derived: ids equal names, the type of an output is its classes with bars between them, and a
node without \`outputs\` has one that is named after the node.`;

function byCategory(nodes: readonly NodeSchema[]): [string, NodeSchema[]][] {
  const categories = new Map<string, NodeSchema[]>();
  for (const node of nodes) {
    const members = categories.get(node.category) ?? [];
    members.push(node);
    categories.set(node.category, members);
  }
  return [...categories]
    .sort(([one], [other]) => compare(one, other))
    .map(([category, members]) => [
      category,
      members.sort((one, other) => compare(one.label, other.label) || compare(one.node_type, other.node_type)),
    ]);
}

/** By code unit, so that every machine writes the same file. */
function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function nodeText(node: NodeSchema, categoryHeading: string): string {
  const heading = `### ${oneLine(node.label)} (\`${oneLine(node.node_type).replaceAll('`', "'")}\`)`;
  const said = readHeadings(categoryHeading, heading);
  const text = toYaml(blockOf(node, said));
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${heading}\n\n${fence}yaml\n${text}${fence}`;
}

/** A heading has one line and no blanks around it. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim();
}

/** Longer than this a list in brackets is hard to read. */
const MAX_FLOW = 100;

function toYaml(block: Record<string, unknown>): string {
  const { Document, isMap, isScalar, isSeq, visit } = yaml();
  const document = new Document(block, { aliasDuplicateObjects: false });
  visit(document, {
    Collection: (key, node) => {
      if (key === null) return undefined;
      const isFlat = isSeq(node)
        ? node.items.every((item) => isScalar(item))
        : isMap(node) && node.items.every(({ value }) => isScalar(value));
      if (isFlat && JSON.stringify(node).length <= MAX_FLOW && !/\\[nr]/.test(JSON.stringify(node))) node.flow = true;
      return undefined;
    },
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function readSection(section: Section): { node?: NodeSchema; issues: ReferenceIssue[] } {
  const { line, said, block, blockLine } = section;
  try {
    const { LineCounter, parseDocument } = yaml();
    const lines = new LineCounter();
    const document = parseDocument(block, { lineCounter: lines, strict: true, uniqueKeys: true, schema: 'core' });
    const [error] = document.errors;
    if (error) {
      const at = blockLine + (error.linePos?.[0].line ?? 1) - 1;
      const message = `The block of ${said.node_type} is not YAML: ${firstLine(error.message)}`;
      return { issues: [{ code: 'bad_yaml', message, line: at, node_type: said.node_type }] };
    }
    const { node, problems } = completeEntry(document.toJS({ maxAliasCount: 0 }), said);
    const issues = problems.map(({ code, message, path }) => ({
      code,
      message: `${said.node_type}${path === '' ? '' : ` ${path}`}: ${message}`,
      line: blockLine + lineOfPath(document, path, lines),
      node_type: said.node_type,
    }));
    return node ? { node, issues } : { issues };
  } catch (thrown) {
    const message = `The block of ${said.node_type} cannot be read: ${firstLine((thrown as Error).message)}`;
    return { issues: [{ code: 'bad_yaml', message, line, node_type: said.node_type }] };
  }
}

/** Lines after the first line of the block at which the place stands. */
function lineOfPath(document: import('yaml').Document, path: string, lines: import('yaml').LineCounter): number {
  const keys = path.split('/').slice(1);
  for (let length = keys.length; length > 0; length -= 1) {
    const at = document.getIn(keys.slice(0, length).map(keyOf), true) as { range?: [number] } | undefined;
    if (at?.range) return lines.linePos(at.range[0]).line - 1;
  }
  return 0;
}

function keyOf(step: string): string | number {
  return /^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function firstLine(message: string): string {
  return (message.split('\n', 1)[0] ?? '').replace(/:$/, '').slice(0, 200);
}
