import type { ChangeKind, FlowChange } from './change.ts';
import { CLASSES, type Class, rankOf } from './version-class.ts';

/**
 * Major: whoever did it right by the older version may be wrong by the newer one, or misses something. Minor: there is
 * more to use or less to prove, and nobody has to care. Patch: the same, said or found otherwise.
 * docs/flow-diff.md explains each line; a test compares the two.
 */
export const IMPACT = {
  flow_added: 'minor',
  flow_retired: 'major',
  title_reworded: 'patch',
  summary_reworded: 'patch',
  tag_added: 'patch',
  tag_removed: 'patch',
  scope_changed: { widened: 'major', narrowed: 'minor' },
  input_added: { required: 'major', optional: 'minor' },
  input_removed: 'major',
  input_changed: { 'other type': 'major', 'now required': 'major', 'no longer required': 'minor' },
  mirror_path_changed: 'patch',
  step_added: { 'evidence required': 'major', 'evidence not required': 'minor' },
  step_removed: 'major',
  step_moved: 'major',
  field_reworded: 'patch',
  boundary_added: 'major',
  boundary_removed: 'minor',
  boundary_reworded: 'patch',
  requires_added: 'major',
  requires_removed: 'minor',
  skill_ref_added: 'minor',
  skill_ref_removed: 'minor',
  step_input_added: 'minor',
  step_input_removed: 'minor',
  step_input_changed: 'minor',
  step_output_added: 'minor',
  step_output_removed: 'major',
  step_output_changed: 'major',
  verification_tightened: 'major',
  verification_loosened: 'minor',
  verification_changed: 'major',
  automatable_changed: { 'more by agents': 'minor', 'less by agents': 'major' },
  list_reordered: 'patch',
} as const satisfies Record<ChangeKind, Class | Record<string, Class>>;

export function impliedBy(changes: readonly FlowChange[]): Class {
  const greatest = changes.reduce((rank, { impact }) => Math.max(rank, rankOf(impact)), 0);
  return CLASSES[greatest] ?? 'none';
}
