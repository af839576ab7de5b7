import { describe, expect, it } from 'vitest';
import { isAutoApprovable } from '../../src/authoring/auto-approvable.ts';
import { mayWrite } from '../../src/authoring/write-authority.ts';
import { type FlowStep, VERIFICATION_KINDS } from '../../src/flows/index.ts';
import {
  type Principal,
  ROLES,
  type Role,
  resolveVisibleScopes,
  SCOPES,
  type Scope,
} from '../../src/operations/index.ts';
import { sampleFlow } from '../support/flows.ts';

const principal = (role: Role, visible: readonly Scope[], kind: Principal['kind'] = 'user'): Principal => ({
  user_id: 'ann',
  kind,
  vault_id: 'default',
  role,
  visible_scopes: new Set(visible),
  ambiguous: false,
  actor_hash: '0'.repeat(64),
});

/** Every set of scopes that somebody may hold. */
const VISIBLE: Scope[][] = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => SCOPES.filter((_, at) => (bits >> at) & 1));
/** Roles that may write each tier, if they see it. */
const WRITERS: Record<Scope, Role[]> = {
  personal: ['viewer', 'editor', 'evaluator', 'admin'],
  project: ['editor', 'admin'],
  org: ['admin'],
};

describe('[S003-2-write-authority] whoever may write a scope', () => {
  it.each(SCOPES.flatMap((scope) => ROLES.map((role) => [scope, role] as const)))(
    '%s as %s needs the role, and to see the scope',
    (scope, role) => {
      for (const visible of VISIBLE) {
        const expected = visible.includes(scope) && WRITERS[scope].includes(role);
        for (const kind of ['user', 'agent', 'local'] as const) {
          expect(mayWrite(principal(role, visible, kind), scope), visible.join()).toBe(expected);
        }
      }
    },
  );

  it('is, by the scopes of the roles themselves, as the contract says', () => {
    const writable = (role: Role) => {
      const visible = [...resolveVisibleScopes({ role, scopes: null, ambiguous: false })];
      return SCOPES.filter((scope) => mayWrite(principal(role, visible), scope));
    };
    expect(Object.fromEntries(ROLES.map((role) => [role, writable(role)]))).toEqual({
      viewer: ['personal'],
      editor: ['personal', 'project'],
      evaluator: ['personal'],
      admin: ['personal', 'project', 'org'],
    });
  });

  it('[S003-2-no-widening] is not widened by a membership that lets a viewer see more', () => {
    const granted = principal('viewer', ['personal', 'project', 'org']);
    expect(SCOPES.filter((scope) => mayWrite(granted, scope))).toEqual(['personal']);
  });
});

describe('[S003-3-auto-approvable] a draft is auto-approvable', () => {
  const step = (kind: FlowStep['verification']['kind'], evidence_required: boolean): FlowStep => ({
    ...(sampleFlow('flow_auto', { steps: 1 }).steps[0] as FlowStep),
    verification: { kind, evidence_required, description: 'Seen.' },
  });
  const TABLE: Record<FlowStep['verification']['kind'], { evidence: boolean; none: boolean }> = {
    human_review: { evidence: false, none: false },
    artifact_exists: { evidence: true, none: true },
    value_match: { evidence: false, none: true },
    test_pass: { evidence: false, none: true },
    agent_check: { evidence: false, none: true },
  };

  it.each(VERIFICATION_KINDS)('by the table: %s', (kind) => {
    expect(isAutoApprovable([step(kind, true)])).toBe(TABLE[kind].evidence);
    expect(isAutoApprovable([step(kind, false)])).toBe(TABLE[kind].none);
  });

  it('only if every step is', () => {
    const fine = step('artifact_exists', true);
    expect(isAutoApprovable([fine, fine, fine])).toBe(true);
    for (const kind of VERIFICATION_KINDS) {
      for (const evidence of [true, false]) {
        const odd = step(kind, evidence);
        for (const bundle of [
          [odd, fine, fine],
          [fine, odd, fine],
          [fine, fine, odd],
        ]) {
          expect(isAutoApprovable(bundle), `${kind} ${evidence}`).toBe(isAutoApprovable([odd]));
        }
      }
    }
  });
});
