/** Roles are a table of capabilities, not a ladder: an evaluator judges what an editor writes, and neither is above. */
export const ROLES = ['viewer', 'editor', 'evaluator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export const CAPABILITIES = ['read', 'write', 'propose', 'evaluate', 'approve', 'administer'] as const;
export type Capability = (typeof CAPABILITIES)[number];

const TABLE: Record<Role, readonly Capability[]> = {
  viewer: ['read'],
  editor: ['read', 'write', 'propose'],
  evaluator: ['read', 'propose', 'evaluate'],
  admin: CAPABILITIES,
};

/** What only people do. An agent lacks these whatever its role. */
const PEOPLE_ONLY: readonly Capability[] = ['evaluate', 'approve', 'administer'];

export function may(subject: { role: Role; kind: 'user' | 'agent' | 'local' }, capability: Capability): boolean {
  if (subject.kind === 'agent' && PEOPLE_ONLY.includes(capability)) return false;
  return TABLE[subject.role].includes(capability);
}

export function rolesWith(capability: Capability): Role[] {
  return ROLES.filter((role) => TABLE[role].includes(capability));
}
