import type { Flow } from '../flows/index.ts';
import { jsonPointer, SCOPES } from '../operations/index.ts';
import type { FlowChange } from './change.ts';
import { IMPACT } from './impact.ts';
import { listChanges } from './list-changes.ts';
import type { Class } from './version-class.ts';

type Input = Flow['inputs'][number];

/** What differs between two versions beside their steps. */
export function flowChanges(before: Flow, after: Flow): FlowChange[] {
  return [
    ...rewordings(before, after),
    ...scopeChanges(before, after),
    ...tagChanges(before, after),
    ...inputChanges(before, after),
    ...mirrorChanges(before, after),
  ];
}

function rewordings(before: Flow, after: Flow): FlowChange[] {
  return (['title', 'summary'] as const)
    .filter((field) => before[field] !== after[field])
    .map((field) => ({
      kind: `${field}_reworded` as const,
      path: pointer(field),
      before: before[field],
      after: after[field],
      impact: IMPACT[`${field}_reworded`],
    }));
}

function scopeChanges(before: Flow, after: Flow): FlowChange[] {
  if (before.scope === after.scope) return [];
  const direction = SCOPES.indexOf(after.scope) > SCOPES.indexOf(before.scope) ? 'widened' : 'narrowed';
  const impact = IMPACT.scope_changed[direction];
  return [
    { kind: 'scope_changed', path: pointer('scope'), direction, before: before.scope, after: after.scope, impact },
  ];
}

function tagChanges(before: Flow, after: Flow): FlowChange[] {
  return listChanges<string, FlowChange>(before.tags, after.tags, {
    keyOf: (tag) => tag,
    removed: (tag, at) => ({ kind: 'tag_removed', path: pointer('tags', at), before: tag, impact: IMPACT.tag_removed }),
    added: (tag, at) => ({ kind: 'tag_added', path: pointer('tags', at), after: tag, impact: IMPACT.tag_added }),
    changed: () => null,
    reordered: () => reordered('tags'),
  });
}

function inputChanges(before: Flow, after: Flow): FlowChange[] {
  return listChanges<Input, FlowChange>(before.inputs, after.inputs, {
    keyOf: ({ name }) => name,
    removed: (input, at) => {
      return { kind: 'input_removed', path: pointer('inputs', at), before: input, impact: IMPACT.input_removed };
    },
    added: (input, at) => {
      const impact = IMPACT.input_added[input.required ? 'required' : 'optional'];
      return { kind: 'input_added', path: pointer('inputs', at), after: input, impact };
    },
    changed: (old, input, at) => {
      const impact = inputImpact(old, input);
      return impact && { kind: 'input_changed', path: pointer('inputs', at), before: old, after: input, impact };
    },
    reordered: () => reordered('inputs'),
  });
}

function inputImpact(before: Input, after: Input): Class | null {
  if (before.type !== after.type) return IMPACT.input_changed['other type'];
  if (before.required === after.required) return null;
  return IMPACT.input_changed[after.required ? 'now required' : 'no longer required'];
}

function mirrorChanges(before: Flow, after: Flow): FlowChange[] {
  const [old, current] = [before.vault_mirror_path, after.vault_mirror_path];
  if (old === current) return [];
  const path = pointer('vault_mirror_path');
  return [{ kind: 'mirror_path_changed', path, before: old, after: current, impact: IMPACT.mirror_path_changed }];
}

function reordered(list: string): FlowChange {
  return { kind: 'list_reordered', path: pointer(list), step: null, impact: IMPACT.list_reordered };
}

function pointer(...path: PropertyKey[]): string {
  return jsonPointer(['flow', ...path]);
}
