import type { Flow, FlowStep } from '../flows/index.ts';
import { boundaryItems, refsLine, verificationLine } from './anatomy.ts';
import type { Draft } from './document.ts';
import { inertWords, labelled, yamlString } from './inert-text.ts';
import { markerComment } from './marker.ts';

/** A rule file of Cursor: a front block that says when it applies, then the steps. */
export function cursorRule(flow: Flow, steps: readonly FlowStep[]): Draft {
  return {
    head: (isCut) =>
      [
        '---',
        `description: ${yamlString(inertWords(flow.summary) || inertWords(flow.title))}`,
        `globs: ${isCut ? '**/*' : globs(flow.tags)}`,
        'alwaysApply: false',
        '---',
        '',
        markerComment(flow),
      ].join('\n'),
    parts: steps.map((step) => ({ ordinal: step.ordinal, text: stepText(step) })),
  };
}

/** Files whose name holds a tag. What a glob or the front block would take for syntax stands for any one character. */
function globs(tags: readonly string[]): string {
  if (tags.length === 0) return '**/*';
  return tags.map((tag) => `**/*${tag.replace(/[^\p{L}\p{N}._ -]/gu, '?')}*`).join(', ');
}

function stepText(step: FlowStep): string {
  const boundaries = boundaryItems(step);
  const blocks = [
    `## Step ${step.ordinal}: ${inertWords(step.owned_job)}`,
    labelled('Instruction', step.instruction),
    labelled('Trigger', step.trigger),
    ...(boundaries.length > 0 ? ['**Boundaries:**', boundaries.join('\n')] : []),
    labelled('Output shape', step.output_shape),
    `**Verification:** ${verificationLine(step)}`,
    ...(step.skill_refs.length > 0 ? [`**Skill refs:** ${refsLine(step.skill_refs)}`] : []),
  ];
  return blocks.join('\n\n');
}
