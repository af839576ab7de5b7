import type { Principal, Role, Scope } from '../operations/index.ts';

/** Seeing a scope is not enough to write in it: each tier wants a role as well, and the server alone knows both. */
const WRITERS: Record<Scope, readonly Role[]> = {
  personal: ['viewer', 'editor', 'evaluator', 'admin'],
  project: ['editor', 'admin'],
  org: ['admin'],
};

export function mayWrite(principal: Principal, scope: Scope): boolean {
  return principal.visible_scopes.has(scope) && WRITERS[scope].includes(principal.role);
}
