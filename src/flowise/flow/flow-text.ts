import { stableStringify } from '../../kernel/canonical-json.ts';
import type { Issue } from '../../kernel/errors.ts';
import { sha256Hex } from '../../kernel/hash.ts';
import { jsonPointer } from '../../operations/index.ts';
import { meaningOfEdge, meaningOfFields, meaningOfNode } from './meaning.ts';
import type { FlowData } from './model.ts';

/** Largest text of a flow that is looked at; the largest template of the marketplace has 125 kB. */
export const MAX_FLOW_CHARS = 20_000_000;
export const MAX_NODES = 10_000;
export const MAX_EDGES = 40_000;
/** Deeper than any canvas writes; whatever recurses over a parsed flow may count on it. */
export const MAX_FLOW_DEPTH = 100;
const MAX_ISSUES = 100;

export type ParsedFlow = { flow: FlowData; issues?: undefined } | { issues: Issue[]; flow?: undefined };

/**
 * The text of a flow as a value. It asks only for what makes it a graph: nodes with an id and data, edges with two
 * ends. Everything else is kept as it is, known or not, and read through node-view, which expects nothing.
 */
export function parseFlow(text: string): ParsedFlow {
  if (typeof text !== 'string') return { issues: [issue('invalid_type', 'must be the JSON text of a flow', [])] };
  if (text.length > MAX_FLOW_CHARS) {
    return { issues: [issue('too_big', `has more than ${MAX_FLOW_CHARS} characters`, [])] };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { issues: [issue('invalid_json', 'is not JSON', [])] };
  }
  const issues = flowIssues(value);
  return issues.length > 0 ? { issues } : { flow: value as FlowData };
}

function flowIssues(value: unknown): Issue[] {
  if (!isRecord(value)) return [issue('invalid_type', 'must be an object with nodes and edges', [])];
  if (isDeeperThan(value, MAX_FLOW_DEPTH)) {
    return [issue('too_deep', `is nested deeper than ${MAX_FLOW_DEPTH} levels`, [])];
  }
  const issues: Issue[] = [];
  const lists = [
    { field: 'nodes', most: MAX_NODES, check: nodeIssues },
    { field: 'edges', most: MAX_EDGES, check: edgeIssues },
  ];
  for (const { field, most, check } of lists) {
    const list = value[field];
    if (!Array.isArray(list)) issues.push(issue('invalid_type', 'must be a list', [field]));
    else if (list.length > most) issues.push(issue('too_big', `must have at most ${most} items`, [field]));
    else for (let at = 0; at < list.length && issues.length < MAX_ISSUES; at += 1) issues.push(...check(list[at], at));
  }
  return issues.slice(0, MAX_ISSUES);
}

function nodeIssues(node: unknown, at: number): Issue[] {
  if (!isRecord(node)) return [issue('invalid_type', 'must be a node', ['nodes', at])];
  const issues: Issue[] = [];
  if (!isName(node.id)) issues.push(issue('invalid_type', 'must be a text that is not empty', ['nodes', at, 'id']));
  if (!isRecord(node.data)) issues.push(issue('invalid_type', 'must be an object', ['nodes', at, 'data']));
  return issues;
}

function edgeIssues(edge: unknown, at: number): Issue[] {
  if (!isRecord(edge)) return [issue('invalid_type', 'must be an edge', ['edges', at])];
  return ['source', 'target']
    .filter((end) => !isName(edge[end]))
    .map((end) => issue('invalid_type', 'must be the id of a node', ['edges', at, end]));
}

/** SHA-256 of the exact text: what was approved, stored, sent. */
export function flowHash(text: string): string {
  return sha256Hex(text);
}

/**
 * SHA-256 of what the flow means: equal for two texts that differ only in where things are drawn, in the order of nodes
 * and edges, or in our own stamp. What counts as drawing is listed in meaning.ts.
 */
export function semanticHash(flow: FlowData): string {
  const nodes = flow.nodes.map((node) => stableStringify(meaningOfNode(node))).sort();
  const edges = flow.edges.map((edge) => stableStringify(meaningOfEdge(edge))).sort();
  return sha256Hex(`[[${nodes.join(',')}],[${edges.join(',')}],${stableStringify(meaningOfFields(flow))}]`);
}

/** Level by level, because recursion is what a deep value breaks. */
export function isDeeperThan(value: object, limit: number): boolean {
  let level: object[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= limit) return true;
    const below: object[] = [];
    for (const each of level) {
      for (const child of Object.values(each)) if (child !== null && typeof child === 'object') below.push(child);
    }
    level = below;
  }
  return false;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function issue(code: string, message: string, path: readonly PropertyKey[]): Issue {
  return { code, message, path: jsonPointer(path) };
}
