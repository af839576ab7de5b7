import { describe, expect, it } from 'vitest';
import { may, ROLES } from '../../src/operations/index.ts';
import { CAPABILITIES, type Capability, rolesWith } from '../../src/operations/role.ts';

const TABLE: Record<(typeof ROLES)[number], Record<Capability, boolean>> = {
  viewer: { read: true, write: false, propose: false, evaluate: false, approve: false, administer: false },
  editor: { read: true, write: true, propose: true, evaluate: false, approve: false, administer: false },
  evaluator: { read: true, write: false, propose: true, evaluate: true, approve: false, administer: false },
  admin: { read: true, write: true, propose: true, evaluate: true, approve: true, administer: true },
};

const PEOPLE_ONLY: readonly string[] = ['evaluate', 'approve', 'administer'];
const cases = ROLES.flatMap((role) => CAPABILITIES.map((capability) => ({ role, capability })));

describe('roles', () => {
  it.each(cases)('$role and $capability, for people', ({ role, capability }) => {
    expect(may({ role, kind: 'user' }, capability)).toBe(TABLE[role][capability]);
    expect(may({ role, kind: 'local' }, capability)).toBe(TABLE[role][capability]);
  });

  it.each(cases)('[FLR-people-decide] $role and $capability, for agents', ({ role, capability }) => {
    const expected = TABLE[role][capability] && !PEOPLE_ONLY.includes(capability);
    expect(may({ role, kind: 'agent' }, capability)).toBe(expected);
  });

  it('can be asked the other way round', () => {
    expect(rolesWith('read')).toEqual(['viewer', 'editor', 'evaluator', 'admin']);
    expect(rolesWith('propose')).toEqual(['editor', 'evaluator', 'admin']);
    expect(rolesWith('administer')).toEqual(['admin']);
  });
});
