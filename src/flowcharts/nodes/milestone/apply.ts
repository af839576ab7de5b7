import { changeMilestone, type Milestone, type MilestoneChange, readChange } from '../../../milestones/index.ts';
import { lookUp } from '../memory/dot-path.ts';
import { NodeFailure } from '../node-type.ts';
import { isObject, type Json } from '../plan/config-reader.ts';
import type { MilestoneConfig } from './config.ts';

/** Of what an upstream node hands on, only this is about the milestone. */
const SOURCE_KEYS = ['name', 'description', 'status', 'progress_percent', 'latest_update', 'completed'] as const;

export interface AppliedMilestone {
  after: Milestone;
  action_results: string[];
}

/**
 * What a node makes of its milestone: the patch of its config, then what came along, then the words of the additive
 * prompt; or, where it marks complete, just that. Pure: the milestone given stays as it is.
 */
export function applyMilestone(before: Milestone, config: MilestoneConfig, input: unknown): AppliedMilestone {
  const lines: string[] = [];
  let current = before;
  const change = (changes: MilestoneChange, line: string) => {
    const next = changed(current, changes);
    if (JSON.stringify(next) !== JSON.stringify(current)) lines.push(line);
    current = next;
  };
  if (config.action === 'create_or_update') {
    if (config.patch) change(read(config.patch, 'the patch'), 'Applied the configured patch.');
    applySource(config.completion_source_path, input, change, lines);
    if (config.additive_prompt !== '') {
      const status = current.status === 'done' ? {} : { status: 'in_progress' as const };
      change(
        { latest_update: config.additive_prompt, ...status },
        'Recorded the additive prompt as the latest update.',
      );
    }
  } else if (config.additive_prompt !== '') {
    change({ latest_update: config.additive_prompt }, 'Recorded the additive prompt as the latest update.');
  }
  if (config.action === 'mark_complete' || config.mark_complete) {
    change({ status: 'done', completed: true, progress_percent: 100 }, 'Marked the milestone complete.');
  }
  if (lines.length === 0) lines.push('The milestone is as it was.');
  return { after: current, action_results: lines };
}

function applySource(
  path: string,
  input: unknown,
  change: (changes: MilestoneChange, line: string) => void,
  lines: string[],
): void {
  if (path === '') return;
  const found = lookUp(input, path);
  if (!isObject(found)) {
    lines.push(
      found === undefined ? `There is nothing at ${path}.` : `What stands at ${path} is no object; it was ignored.`,
    );
    return;
  }
  const picked: Json = Object.fromEntries(
    SOURCE_KEYS.filter((key) => Object.hasOwn(found, key)).map((key) => [key, found[key]]),
  );
  // Upstream may say that it is done; that it is not is no news.
  if (picked.completed !== true) delete picked.completed;
  if (picked.completed === true && picked.status !== undefined && picked.status !== 'archived') picked.status = 'done';
  change(read(picked, `what stands at ${path}`), `Applied what stands at ${path}.`);
}

function read(patch: Json, what: string): MilestoneChange {
  const { change, issues } = readChange(patch);
  const [first] = issues;
  if (first) throw new NodeFailure('milestone_patch_invalid', `In ${what}, ${first.path} ${first.message}.`);
  return change;
}

function changed(before: Milestone, change: MilestoneChange): Milestone {
  const { after, issues } = changeMilestone(before, change);
  const [first] = issues;
  if (first)
    throw new NodeFailure('milestone_patch_invalid', `The milestone cannot be so: ${first.path} ${first.message}.`);
  return after;
}
