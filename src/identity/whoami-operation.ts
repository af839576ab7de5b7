import * as z from 'zod';
import { type Context, defineOperation, SCOPES } from '../operations/index.ts';
import { RoleSchema } from './member-operations.ts';
import type { IdentityNeeds } from './operations.ts';

export const whoami = defineOperation({
  name: 'whoami.show',
  summary: 'Show who you are here and what you may see',
  input: z.strictObject({}),
  output: z
    .strictObject({
      schema: z.literal('flowright.whoami/v1'),
      user_id: z.string(),
      kind: z.enum(['user', 'agent', 'local']),
      vault_id: z.string(),
      role: RoleSchema,
      visible_scopes: z.array(z.enum(SCOPES)),
      ambiguous: z.boolean(),
    })
    .meta({ id: 'WhoamiResponse' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/whoami', tag: 'Identity' },
  mcp: { tool: 'whoami' },
  cli: {
    command: 'whoami',
    render: (me) =>
      `${me.user_id} (${me.kind}), ${me.role} of vault ${me.vault_id}; sees ${me.visible_scopes.join(', ')}`,
  },
  handle: ({ principal }: Context<IdentityNeeds>) => ({
    schema: 'flowright.whoami/v1' as const,
    user_id: principal.user_id,
    kind: principal.kind,
    vault_id: principal.vault_id,
    role: principal.role,
    visible_scopes: SCOPES.filter((scope) => principal.visible_scopes.has(scope)),
    ambiguous: principal.ambiguous,
  }),
});
