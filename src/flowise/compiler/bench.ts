import type { Issue } from '../../kernel/errors.ts';
import type { FlowNode } from '../flow/model.ts';
import type { NodeSchemas } from '../node-schema.ts';
import type { Canvas } from './canvas.ts';
import type { AnchorMetrics, Compilation } from './compilation.ts';
import { hiddenIssue } from './hidden-issue.ts';
import { didYouMean } from './similar.ts';

/** What an operation works with: the canvas, what is known, and what was found so far. */
export interface Bench {
  canvas: Canvas;
  schemas: NodeSchemas;
  /** The flow is an Agentflow v2. */
  agentflow: boolean;
  errors: Issue[];
  warnings: Issue[];
  /** Nodes of this list that are on the canvas. */
  added: Set<string>;
  /** Of those, the ones nobody gave a position. */
  unplaced: Set<string>;
  /** Ids that could not be added: what is said about them later adds nothing. */
  failed: Set<string>;
  removed: Set<string>;
  /** Where in the list an id is added. */
  addedBy: ReadonlyMap<string, number>;
  tools: Compilation['tools'];
  missing: Set<string>;
  metrics: Omit<AnchorMetrics, 'exact_match_rate'>;
  /** What connections of this list found in their place, so that undoing one leaves no trace. */
  before: Map<string, Found>;
}

/** A value as it was; absent when the field itself was not there. */
export interface Found {
  present: boolean;
  value: unknown;
}

export function refuse(bench: Bench, code: string, path: string, message: string): void {
  bench.errors.push(hiddenIssue({ code, message, path }));
}

export function warn(bench: Bench, code: string, path: string, message: string): void {
  bench.warnings.push(hiddenIssue({ code, message, path }));
}

/** Looking for similar names among thousands costs time; the first mistakes get the help. */
const HELPED_MISTAKES = 30;

export function suggestion(bench: Bench, word: string, names: Iterable<string>): string {
  return bench.errors.length < HELPED_MISTAKES ? didYouMean(word, names) : '';
}

/** The node an operation names, as it is at that moment; otherwise null, and why is reported. */
export function namedNode(bench: Bench, id: string, path: string): FlowNode | null {
  const { canvas } = bench;
  if (canvas.isAmbiguous(id)) {
    refuse(bench, 'node_ambiguous', path, `Several nodes have the id ${id}; give them different ids in Flowise first.`);
    return null;
  }
  const node = canvas.get(id);
  if (node) return node;
  if (bench.failed.has(id)) return null;
  const later = bench.addedBy.get(id);
  if (bench.removed.has(id)) {
    refuse(bench, 'node_removed', path, `${id} was removed by an operation before this one; leave this one out.`);
  } else if (later !== undefined) {
    refuse(bench, 'node_not_yet', path, `${id} is only added by operation ${later}; put that one before this one.`);
  } else {
    refuse(bench, 'node_unknown', path, `There is no node ${id}${suggestion(bench, id, canvas.ids())}.`);
  }
  return null;
}
