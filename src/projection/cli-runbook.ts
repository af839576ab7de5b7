import type { Flow, FlowStep } from '../flows/index.ts';
import { anatomyItems } from './anatomy.ts';
import type { Draft } from './document.ts';
import { inertWords, item, labelled, standing } from './inert-text.ts';
import { markerComment } from './marker.ts';

/** Plain Markdown for people and command-line agents, such as AGENTS.md. */
export function cliRunbook(flow: Flow, steps: readonly FlowStep[]): Draft {
  return {
    head: () => [`# ${inertWords(flow.title)}`, '', markerComment(flow), '', standing(flow.summary)].join('\n'),
    parts: steps.map((step) => ({
      ordinal: step.ordinal,
      text: [`## Step ${step.ordinal}`, '', item(labelled('Owned job', step.owned_job)), ...anatomyItems(step)].join(
        '\n',
      ),
    })),
  };
}
