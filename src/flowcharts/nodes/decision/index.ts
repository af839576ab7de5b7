import { type NodeExecution, NodeFailure, type NodeType, type Outcome } from '../node-type.ts';
import { CONTEXT_NAMES, compileCel } from './cel.ts';
import { evaluateCondition, readCondition } from './conditions.ts';
import { checkDecision, conditionsOf, normaliseDecision } from './config.ts';

/** For all conditions of a node together: nobody else is served while they are evaluated. */
const EVALUATION_MS = 250;
const MAX_NAMED = 20;

interface Evaluation {
  connector_id: string;
  condition_text: string;
  matched: boolean;
  reason: string;
}

/** Which connectors to follow: every one whose condition holds. No model and no tool is asked. */
export const decisionNode: NodeType = {
  name: 'decision',
  binds: { ref: 'none', mcp: false, attachments: true },
  normaliseConfig: normaliseDecision,
  migrateConfig: ({ route_field_path: _older, ...config }) => ({
    ...config,
    decision_conditions: Array.isArray(config.decision_conditions) ? config.decision_conditions : [],
  }),
  check: checkDecision,
  inspector: [
    {
      key: 'decision_conditions',
      label: 'Conditions',
      control: 'conditions',
      help: 'One for each solid connector: path == value, path contains text, a path, a route word, or a CEL expression',
    },
    { key: 'no_match_policy', label: 'When nothing matches', control: 'choice', options: ['fail', 'fallback', 'end'] },
    { key: 'fallback_condition_key', label: 'Fallback connector', control: 'text' },
  ],
  execute: (execution) => ({ done: decide(execution) }),
  artifactPayload: ({ output_state, routing_state }) => ({
    matched_connector_ids: output_state.matched_connector_ids,
    evaluations: output_state.evaluations,
    no_match: output_state.no_match,
    resolved_route_key: output_state.resolved_route_key,
    resolved_route_path: output_state.resolved_route_path,
    routing_state,
  }),
};

function decide({ node, input }: NodeExecution): Outcome {
  const conditions = conditionsOf(node.config);
  if (conditions.length === 0) {
    throw new NodeFailure(
      'decision_conditions_missing',
      'The decision has no conditions. Draw a solid connector from it and save the graph.',
    );
  }
  const end = performance.now() + EVALUATION_MS;
  const evaluations: Evaluation[] = [];
  const failures: Evaluation[] = [];
  let resolved_route_path: string | null = null;
  for (const { connector_id, condition_text } of conditions) {
    const condition = readCondition(condition_text, CONTEXT_NAMES);
    const verdict = evaluateCondition(condition, input, compileCel, Math.max(1, end - performance.now()));
    if ('invalid' in verdict) {
      throw new NodeFailure(
        'condition_invalid',
        `The condition of ${connector_id} cannot be read: ${verdict.invalid}. Mend it in the graph and run again.`,
      );
    }
    const { matched, reason, path, failed } = verdict;
    if (matched && !evaluations.some((earlier) => earlier.matched)) resolved_route_path = path;
    const evaluation = { connector_id, condition_text, matched, reason };
    evaluations.push(evaluation);
    if (failed) failures.push(evaluation);
  }
  const matched_connector_ids = evaluations.filter(({ matched }) => matched).map(({ connector_id }) => connector_id);
  const no_match = matched_connector_ids.length === 0;
  // That nothing matched is not known while a condition failed: no route, not even the fallback, may rest on it.
  if (no_match && failures.length > 0) throw conditionFailed(failures);
  const resolved_route_key = matched_connector_ids[0] ?? null;
  return {
    output_state: { matched_connector_ids, evaluations, no_match, resolved_route_key, resolved_route_path },
    routing_state: {
      matched_connector_ids,
      evaluations,
      no_match,
      ...(resolved_route_key === null ? {} : { route_key: resolved_route_key }),
    },
    ...(failures.length === 0 ? {} : { degraded_reason: 'condition_error' }),
  };
}

function conditionFailed(failures: readonly Evaluation[]): NodeFailure {
  const named = failures.slice(0, MAX_NAMED).map(({ connector_id, reason }) => `${connector_id} (${reason})`);
  const more = failures.length > MAX_NAMED ? ` and ${failures.length - MAX_NAMED} more` : '';
  return new NodeFailure(
    'condition_failed',
    `No condition matched, and these could not be evaluated: ${named.join(', ')}${more}. Mend them in the graph, with has(…) where a key may be missing, and run again.`,
  );
}
