import type { Issue } from '../../kernel/errors.ts';
import type { FlowData } from '../flow/model.ts';
import type { NodeSchemas } from '../node-schema.ts';
import { checkEdges } from './check-edges.ts';
import { checkGraph } from './check-graph.ts';
import { checkHidden } from './check-hidden.ts';
import { checkNodes } from './check-nodes.ts';
import { createFindings, type Finding, viewFlow } from './flow-view.ts';
import { hiddenIssue } from './hidden-issue.ts';

export interface ValidateOptions {
  /** Node types that exist; left out, types are not checked. */
  schemas?: NodeSchemas;
  /** Ids of the tools that are stored; left out, a selected tool is not looked up. */
  tools?: Iterable<string>;
  /** Tools that will be stored before the flow, by tool_ref. */
  toolRefs?: Iterable<string>;
  /** Ids of the credentials that are stored; left out, they are not looked up. */
  credentials?: Iterable<string>;
  /** The flow as it was: what was wrong with it already is a warning. A change is judged by what it breaks. */
  before?: FlowData;
  /** What is merely not filled in yet (credentials, required inputs, an ending node): an error unless 'warn'. */
  incomplete?: 'refuse' | 'warn';
}

export interface Validation {
  valid: boolean;
  errors: Issue[];
  warnings: Issue[];
  node_count: number;
  edge_count: number;
}

const MOST_ISSUES = 200;

/** Would Flowise's canvas show this flow, and would its server run it? Nothing is asked of a server. */
export function validateFlow(flow: FlowData, options: ValidateOptions = {}): Validation {
  const findings = findingsOf(flow, options);
  const serious = findings.filter(({ weight }) => isSerious(weight, options));
  const old = options.before && serious.length > 0 ? keysOf(options.before, options) : new Set<string>();
  const errors = serious.filter(({ key }) => !old.has(key));
  const refused = new Set(errors);
  const warnings = findings.filter((finding) => !refused.has(finding));
  return {
    valid: errors.length === 0,
    errors: capped(errors),
    warnings: capped(warnings),
    node_count: flow.nodes.length,
    edge_count: flow.edges.length,
  };
}

function isSerious(weight: Finding['weight'], { incomplete }: ValidateOptions): boolean {
  return weight === 'error' || (weight === 'incomplete' && incomplete !== 'warn');
}

function findingsOf(flow: FlowData, options: ValidateOptions): readonly Finding[] {
  const view = viewFlow(flow);
  const findings = createFindings();
  const { schemas, tools, toolRefs, credentials } = options;
  const known = {
    ...(schemas ? { schemas } : {}),
    ...(tools ? { tools: new Set(tools) } : {}),
    ...(credentials ? { credentials: new Set(credentials) } : {}),
    toolRefs: new Set(toolRefs),
  };
  checkNodes(view, known, findings);
  checkHidden(view, findings);
  checkEdges(view, findings);
  checkGraph(view, findings);
  return findings.all;
}

function keysOf(flow: FlowData, options: ValidateOptions): Set<string> {
  return new Set(findingsOf(flow, options).map(({ key }) => key));
}

function capped(findings: readonly Finding[]): Issue[] {
  const issues = findings.slice(0, MOST_ISSUES).map(({ issue }) => hiddenIssue(issue));
  const left = findings.length - issues.length;
  return left > 0 ? [...issues, { code: 'more', message: `There are ${left} more.`, path: '' }] : issues;
}
