/** Programs that can hold a flow in a format of their own. All are known words; only the active ones are rendered. */
export const HARNESSES = ['cursor_rule', 'cursor_skill', 'mcp_prompt', 'cli_runbook', 'agent_bundle'] as const;
export type Harness = (typeof HARNESSES)[number];

export const ACTIVE_HARNESSES = ['cursor_rule', 'cursor_skill', 'mcp_prompt', 'cli_runbook'] as const;
export type ActiveHarness = (typeof ACTIVE_HARNESSES)[number];

export function isHarnessActive(harness: Harness): harness is ActiveHarness {
  return (ACTIVE_HARNESSES as readonly Harness[]).includes(harness);
}
