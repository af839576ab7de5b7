import type { Flow, FlowStep } from '../flows/index.ts';
import { flowInputs, namedStep } from './anatomy.ts';
import type { Draft } from './document.ts';
import { clipped, inertWords, standing, yamlString } from './inert-text.ts';
import { markerComment } from './marker.ts';
import { slugOf } from './slug.ts';

/** Of an Agent Skill, in characters. */
const MAX_DESCRIPTION = 1024;

/** The SKILL.md of an Agent Skill. */
export function cursorSkill(flow: Flow, steps: readonly FlowStep[], stateId: string): Draft {
  const description = clipped(inertWords(flow.summary) || inertWords(flow.title), MAX_DESCRIPTION);
  const inputs = flowInputs(flow);
  return {
    head: () =>
      [
        '---',
        `name: ${yamlName(slugOf(flow.flow_id))}`,
        `description: ${yamlString(description)}`,
        'metadata:',
        `  flow_id: ${yamlString(flow.flow_id)}`,
        `  version: ${yamlString(flow.version)}`,
        `  state_id: ${yamlString(stateId)}`,
        '---',
        '',
        markerComment(flow),
        '',
        `# ${inertWords(flow.title)}`,
        '',
        standing(flow.summary),
      ].join('\n'),
    parts: [
      ...(inputs ? [{ text: inputs }] : []),
      ...steps.map((step) => ({ ordinal: step.ordinal, text: namedStep(step) })),
    ],
  };
}

/** In quotes where YAML, of this version or the one before, would read a legal name as a number, date or truth value. */
function yamlName(name: string): string {
  return /^\d|^(?:true|false|yes|no|on|off|y|n|null)$/.test(name) ? yamlString(name) : name;
}
