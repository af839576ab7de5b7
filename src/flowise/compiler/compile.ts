import type { Issue } from '../../kernel/errors.ts';
import { diffFlows } from '../flow/compare.ts';
import { diffLines } from '../flow/diff-lines.ts';
import { parseFlow } from '../flow/flow-text.ts';
import type { FlowData } from '../flow/model.ts';
import type { NodeSchemas } from '../node-schema.ts';
import { applyOps } from './apply-ops.ts';
import type { Bench } from './bench.ts';
import type { AnchorMetrics, Compilation } from './compilation.ts';
import { isNote } from './kinds.ts';
import type { PatchOp } from './ops.ts';
import { withoutFence } from './parse-ops.ts';
import { payloadHash } from './payload-hash.ts';
import { type ValidateOptions, validateFlow } from './validate.ts';

/** The flow of a chatflow that is yet to be made. */
export const EMPTY_FLOW = '{"nodes":[],"edges":[],"viewport":{"x":0,"y":0,"zoom":0.5}}';

/** What is known of the server beside its node types, and whether unfinished flows are let through. */
export type CompileOptions = Pick<ValidateOptions, 'tools' | 'credentials' | 'incomplete'>;

const NO_CONNECTIONS: AnchorMetrics = {
  total_connections: 0,
  exact_name_matches: 0,
  fuzzy_fallbacks: 0,
  exact_match_rate: 1,
  fuzzy_details: [],
};

/**
 * What operations make of a flow: a pure function, so the same input gives the same text and the same hash. A list
 * holds as a whole: with a mistake in it, the flow that is returned is the base.
 */
export function compile(
  base: string,
  ops: readonly PatchOp[],
  schemas: NodeSchemas,
  options: CompileOptions = {},
): Compilation {
  const parsed = parseFlow(base);
  if (!parsed.flow) return unreadable(base, parsed.issues, 'The flow');
  const before = parsed.flow;
  const bench = applyOps(before, ops, schemas);
  const after = bench.errors.length > 0 ? before : bench.canvas.flow();
  const toolRefs = bench.tools.map((tool) => tool.tool_ref);
  const validation = validateFlow(after, { ...options, schemas, toolRefs, before });
  return {
    ...result(before, after, textOf(before, after, base), schemas, bench.tools),
    ok: bench.errors.length === 0 && validation.valid,
    errors: [...bench.errors, ...validation.errors],
    warnings: [...bench.warnings, ...validation.warnings],
    anchor_metrics: metricsOf(bench),
    missing_node_types: [...bench.missing],
  };
}

/** The same for a whole flow that somebody wrote instead of operations. Its text is stored as it is. */
export function compileDraft(
  base: string,
  draft: string,
  schemas: NodeSchemas,
  options: CompileOptions = {},
): Compilation {
  const parsed = parseFlow(base);
  if (!parsed.flow) return unreadable(base, parsed.issues, 'The flow');
  const text = withoutFence(draft);
  const wanted = parseFlow(text);
  if (!wanted.flow) return unreadable(base, wanted.issues, 'The draft', parsed.flow);
  const validation = validateFlow(wanted.flow, { ...options, schemas, before: parsed.flow });
  return {
    ...result(parsed.flow, wanted.flow, text, schemas),
    ok: validation.valid,
    errors: validation.errors,
    warnings: validation.warnings,
    anchor_metrics: NO_CONNECTIONS,
    missing_node_types: unknownTypes(wanted.flow, schemas),
  };
}

/** What stays the same keeps its text to the last space. */
function textOf(before: FlowData, after: FlowData, base: string): string {
  const same = sameItems(before.nodes, after.nodes) && sameItems(before.edges, after.edges);
  return same ? base : JSON.stringify(after);
}

/** What nobody touched is the same object, so only the rest is compared. */
function sameItems(before: readonly object[], after: readonly object[]): boolean {
  if (before === after) return true;
  if (before.length !== after.length) return false;
  return before.every((item, index) => item === after[index] || JSON.stringify(item) === JSON.stringify(after[index]));
}

function result(
  before: FlowData,
  after: FlowData,
  text: string,
  schemas: NodeSchemas | null,
  tools: Compilation['tools'] = [],
) {
  const diff = diffFlows(before, after, (name) => schemas?.get(name)?.input_params ?? null);
  return {
    flow_data: after,
    flow_data_str: text,
    payload_hash: payloadHash(text, tools),
    diff,
    diff_summary: diffLines(diff).join('\n'),
    tools,
  };
}

function unreadable(base: string, issues: readonly Issue[], what: string, flow?: FlowData): Compilation {
  const empty: FlowData = flow ?? { nodes: [], edges: [] };
  const errors = issues.map((issue) => ({ ...issue, message: `${what} cannot be read: it ${issue.message}.` }));
  return {
    ...result(empty, empty, base, null),
    ok: false,
    errors,
    warnings: [],
    anchor_metrics: NO_CONNECTIONS,
    missing_node_types: [],
  };
}

function metricsOf({ metrics }: Bench): AnchorMetrics {
  const { total_connections, exact_name_matches } = metrics;
  return { ...metrics, exact_match_rate: total_connections === 0 ? 1 : exact_name_matches / total_connections };
}

function unknownTypes(flow: FlowData, schemas: NodeSchemas): string[] {
  const names = flow.nodes.filter((node) => !isNote(node)).map((node) => String(node.data.name));
  return [...new Set(names)].filter((name) => !schemas.get(name));
}
