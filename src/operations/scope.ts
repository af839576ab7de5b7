import { refusal } from '../kernel/errors.ts';
import type { Role } from './role.ts';

/** Flow scopes, lowest first. They are authorisation: what a principal does not hold does not exist for it. */
export const SCOPES = ['personal', 'project', 'org'] as const;
export type Scope = (typeof SCOPES)[number];

export const LOWEST_SCOPES: ReadonlySet<Scope> = new Set(['personal']);

const BASELINE: Record<Role, readonly Scope[]> = {
  viewer: ['personal'],
  evaluator: ['personal', 'project'],
  editor: ['personal', 'project'],
  admin: ['personal', 'project', 'org'],
};

export function isScope(word: unknown): word is Scope {
  return SCOPES.includes(word as Scope);
}

/** A membership's own scopes replace the role's baseline; an ambiguous membership holds only the lowest. */
export function resolveVisibleScopes(membership: {
  role: Role;
  scopes: readonly Scope[] | null;
  ambiguous: boolean;
}): ReadonlySet<Scope> {
  if (membership.ambiguous) return LOWEST_SCOPES;
  const own = membership.scopes?.filter(isScope) ?? [];
  return new Set(own.length > 0 ? own : BASELINE[membership.role]);
}

/** A requested scope can only narrow. Without one, everything held is read and the highest is reported. */
export function narrowScopes(
  held: ReadonlySet<Scope>,
  requested: Scope | undefined,
): { filter: Scope[]; effective: Scope } {
  const filter = SCOPES.filter((scope) => held.has(scope));
  if (requested === undefined) return { filter, effective: filter.at(-1) ?? 'personal' };
  if (!held.has(requested)) {
    throw refusal(
      'FLOW_SCOPE_DENIED',
      `You do not hold the scope ${requested}. Leave the scope out, or name one of: ${filter.join(', ')}.`,
    );
  }
  return { filter: [requested], effective: requested };
}
