import { type Flow, type FlowStep, flowStateId } from '../flows/index.ts';
import { cliRunbook } from './cli-runbook.ts';
import { cursorRule } from './cursor-rule.ts';
import { cursorSkill } from './cursor-skill.ts';
import { bounded, type Draft } from './document.ts';
import type { ActiveHarness } from './harness.ts';
import { mcpPrompt } from './mcp-prompt.ts';

/** What a rendering could not hold. */
export interface Fidelity {
  dropped_fields: string[];
  notes?: string;
}

export interface Projected {
  rendered: string;
  fidelity: Fidelity;
}

/**
 * A flow in the format of a harness. A pure function of its arguments and of the generator's version: no clock, chance,
 * path or setting, so that the same flow gives the same bytes everywhere and a changed file is a changed flow.
 */
export function projectFlow(flow: Flow, steps: readonly FlowStep[], harness: ActiveHarness): Projected {
  const inOrder = [...steps].sort((left, right) => left.ordinal - right.ordinal);
  const { rendered, cut } = bounded(flow, draftFor(flow, inOrder, harness));
  const dropped = harness === 'cursor_rule' ? ruleDrops(flow, inOrder) : [];
  const notes = [harness === 'cursor_rule' ? RULE_NOTE : null, flow.truncated ? LONG_NOTE : null, cut];
  const said = notes.filter((note) => note !== null).join(' ');
  return {
    rendered,
    fidelity: { dropped_fields: dropped, ...(said === '' ? {} : { notes: said }) },
  };
}

function draftFor(flow: Flow, steps: FlowStep[], harness: ActiveHarness): Draft {
  switch (harness) {
    case 'cursor_rule':
      return cursorRule(flow, steps);
    case 'cursor_skill':
      return cursorSkill(flow, steps, flowStateId(flow, steps));
    case 'cli_runbook':
      return cliRunbook(flow, steps);
    case 'mcp_prompt':
      return mcpPrompt(flow, steps, flowStateId(flow, steps));
  }
}

const RULE_NOTE =
  'A cursor_rule has no place for when not to run a step, nor for how far a step may be automated; use cli_runbook or cursor_skill to keep them.';

const LONG_NOTE = 'The flow has more steps than are read at once.';

/** Fields that have no place in a rule, where the flow has something in them; sorted. */
function ruleDrops(flow: Flow, steps: readonly FlowStep[]): string[] {
  const has: Record<string, boolean> = {
    inputs: flow.inputs.length > 0 || steps.some(({ inputs }) => inputs.length > 0),
    outputs: steps.some(({ outputs }) => outputs.length > 0),
    requires: steps.some(({ requires }) => requires.length > 0),
    when_not_to_run: steps.some(({ when_not_to_run }) => when_not_to_run.trim() !== ''),
  };
  return Object.keys(has).filter((field) => has[field]);
}
