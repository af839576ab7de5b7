/** Ids of the library, letter by letter as the contract pins them. */
export const FLOW_ID_RE = /^flow_[a-z0-9_]{1,64}$/;
export const FLOW_STEP_ID_RE = /^flow_[a-z0-9_]{1,64}#[1-9][0-9]*$/;
export const FLOW_RUN_ID_RE = /^run_[a-z0-9_]{1,48}$/;
export { SEMVER_RE } from '../kernel/semver.ts';

export function buildFlowStepId(flowId: string, ordinal: number): string {
  return `${flowId}#${ordinal}`;
}

/** Where a flow's readable mirror lives: flow_a_b → meta/flows/a-b.md. */
export const MIRROR_PATH_RE = /^meta\/flows\/[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\.md$/;

export function mirrorPathOf(flow: { flow_id: string; vault_mirror_path: string | null }): string {
  return flow.vault_mirror_path ?? `meta/flows/${flow.flow_id.slice('flow_'.length).replaceAll('_', '-')}.md`;
}
