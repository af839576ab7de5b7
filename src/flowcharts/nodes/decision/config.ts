import type { Issue } from '../../../kernel/errors.ts';
import type { GraphNode } from '../../graph/model.ts';
import { CONTEXT_NAMES, compileCel, MAX_CONDITION_LENGTH } from './cel.ts';
import { conditionFault } from './conditions.ts';

type Json = Record<string, unknown>;

export interface DecisionCondition {
  connector_id: string;
  condition_text: string;
}

const PATH = '/decision_conditions';

export function normaliseDecision(raw: Json): { config: Json; issues: Issue[] } {
  const { route_field_path: _older, decision_conditions: given = [], ...config } = raw;
  if (!Array.isArray(given)) return { config, issues: [conditionsInvalid(PATH, 'must be a list of conditions')] };
  const issues: Issue[] = [];
  const conditions = new Map<string, DecisionCondition>();
  given.forEach((item: unknown, at) => {
    const { connector_id, condition_text = '' } = (item ?? {}) as { connector_id?: unknown; condition_text?: unknown };
    const place = `${PATH}/${at}`;
    if (typeof connector_id !== 'string' || connector_id.trim() === '') {
      issues.push(conditionsInvalid(`${place}/connector_id`, 'must name a connector'));
    } else if (typeof condition_text !== 'string' || condition_text.length > MAX_CONDITION_LENGTH) {
      const message = `must be a text of at most ${MAX_CONDITION_LENGTH} characters`;
      issues.push(conditionsInvalid(`${place}/condition_text`, message));
    } else if (!conditions.has(connector_id.trim())) {
      const id = connector_id.trim();
      conditions.set(id, { connector_id: id, condition_text: condition_text.trim() });
    }
  });
  return { config: { ...config, decision_conditions: [...conditions.values()] }, issues };
}

export function conditionsOf(config: Json): DecisionCondition[] {
  return normaliseDecision(config).config.decision_conditions as DecisionCondition[];
}

/** Conditions that can never be evaluated. */
export function checkDecision(node: GraphNode): Issue[] {
  const { config, issues } = normaliseDecision(node.config);
  if (issues.length > 0) return issues.map((issue) => ({ ...issue, path: `/config${issue.path}` }));
  return (config.decision_conditions as DecisionCondition[]).flatMap(({ condition_text }, at) => {
    const fault = conditionFault(condition_text, CONTEXT_NAMES, compileCel);
    if (fault === null) return [];
    const message = `is not a condition: ${fault}`;
    return [{ code: 'condition_invalid', message, path: `/config${PATH}/${at}/condition_text` }];
  });
}

function conditionsInvalid(path: string, message: string): Issue {
  return { code: 'decision_conditions_invalid', message, path };
}
