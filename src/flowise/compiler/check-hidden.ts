import { containsPlaceholder } from '../flow/secrets.ts';
import { type Findings, type FlowView, step } from './flow-view.ts';
import { isNote, mention } from './kinds.ts';

/**
 * A flow that was shown to somebody has its secrets hidden, in notes, labels and definitions too: written back, the
 * sign would take their place for good. Inputs of other nodes are looked at with their values.
 */
export function checkHidden({ flow }: FlowView, findings: Findings): void {
  flow.nodes.forEach((node, index) => {
    const { data, ...around } = node;
    const { inputs, ...fields } = data;
    const looked = { ...around, ...fields, ...(isNote(node) ? { inputs } : {}) };
    for (const [name, value] of Object.entries(looked)) {
      if (!containsPlaceholder(value)) continue;
      const path = `/nodes/${index}/${Object.hasOwn(data, name) ? 'data/' : ''}${step(name)}`;
      const message = `${name} of ${mention(node)} holds the sign of a hidden secret; give the real value.`;
      findings.error('secret_hidden', { path, subject: `${node.id} its ${name}` }, message);
    }
  });
  for (const [name, value] of Object.entries(flow)) {
    if (name === 'nodes' || !containsPlaceholder(value)) continue;
    const message = `${name} of the flow holds the sign of a hidden secret; give the real value.`;
    findings.error('secret_hidden', { path: `/${step(name)}`, subject: `the flow ${name}` }, message);
  }
}
