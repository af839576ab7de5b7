import { FLOW_ID_RE } from '../flows/index.ts';
import type { Harness } from './harness.ts';

/** Agent Skills: lower-case letters, digits and single hyphens, none at either end. Their length of 64 is ours too. */
const SKILL_NAME_RE = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** flow_a_b → a-b. Nothing is collapsed, so two flows never share a slug and the way back is exact. */
export function slugOf(flowId: string): string {
  return flowId.slice('flow_'.length).replaceAll('_', '-');
}

/** a-b → flow_a_b; null for what is no flow's slug, such as a_b. */
export function flowIdOf(slug: string): string | null {
  if (slug.includes('_')) return null;
  const flowId = `flow_${slug.replaceAll('-', '_')}`;
  return FLOW_ID_RE.test(flowId) ? flowId : null;
}

/** The flow's name as an Agent Skill; null when its id has a `_` at an end or two in a row, and so no legal name. */
export function skillNameOf(flowId: string): string | null {
  const slug = slugOf(flowId);
  return SKILL_NAME_RE.test(slug) ? slug : null;
}

/** Where a harness looks for the file, from the root of a repository; null for one that reads no file. */
export function defaultArtifactPath(harness: Harness, flowId: string): string | null {
  switch (harness) {
    case 'cursor_rule':
      return `.cursor/rules/${slugOf(flowId)}.mdc`;
    case 'cursor_skill':
      return `.cursor/skills/${slugOf(flowId)}/SKILL.md`;
    case 'cli_runbook':
      return 'AGENTS.md';
    default:
      return null;
  }
}
