import { inert, inertLine, textTable } from '../kernel/terminal.ts';
import type { FlowDefinitionResult, FlowListResult, FlowSearchResult } from './flow-schema.ts';

/** One line a flow: id, version, scope, steps, title. */
export function flowTable(answer: FlowListResult | FlowSearchResult): string {
  if (answer.flows.length === 0) return '(no flows)';
  const rows = answer.flows.map((flow) => [
    flow.flow_id,
    flow.version,
    `[${flow.scope}]`,
    String(flow.step_count),
    flow.title,
  ]);
  const table = textTable(['FLOW', 'VERSION', 'SCOPE', 'STEPS', 'TITLE'], rows);
  return answer.truncated ? `${table}\n(truncated)` : table;
}

/** A card: what it is for, then each step with what proves it done. */
export function flowCard({ flow, steps }: FlowDefinitionResult): string {
  const lines = [`${flow.flow_id} ${flow.version} [${flow.scope}]`, inertLine(flow.title), ''];
  if (flow.summary) lines.push(inert(flow.summary), '');
  if (flow.tags.length > 0) lines.push(`tags: ${flow.tags.map(inertLine).join(', ')}`, '');
  for (const step of steps) {
    lines.push(`${step.ordinal}. ${inertLine(step.owned_job)}`);
    lines.push(`   done when: ${inertLine(step.verification.description)} (${step.verification.kind})`);
  }
  if (flow.truncated) lines.push('(truncated)');
  return lines.join('\n');
}
