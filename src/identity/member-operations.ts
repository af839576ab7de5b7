import * as z from 'zod';
import { refusal } from '../kernel/errors.ts';
import { USER_ID_RE } from '../kernel/ids.ts';
import { textTable } from '../kernel/terminal.ts';
import { type Context, defineOperation, ROLES, SCOPES } from '../operations/index.ts';
import { listMembers, type Membership, removeMembership, setMembership } from './directory.ts';
import type { IdentityNeeds } from './operations.ts';

export const UserId = z.string().regex(USER_ID_RE, 'must be a user id').describe('User id');
export const RoleSchema = z.enum(ROLES).describe('What the user may do in the vault');

const MemberSchema = z
  .strictObject({
    user_id: z.string(),
    role: RoleSchema,
    scopes: z.array(z.enum(SCOPES)).nullable().describe('Replaces what the role sees; null for the role itself'),
    ambiguous: z.boolean().describe('Refuses every flow call until settled'),
  })
  .meta({ id: 'Member' });

const MemberListResponse = z
  .strictObject({
    schema: z.literal('flowright.member_list/v1'),
    vault_id: z.string(),
    members: z.array(MemberSchema),
  })
  .meta({ id: 'MemberListResponse' });

const MemberResponse = z
  .strictObject({ schema: z.literal('flowright.member/v1'), vault_id: z.string(), member: MemberSchema })
  .meta({ id: 'MemberResponse' });

function memberTable(members: Membership[]): string {
  const rows = members.map(({ user_id, role, scopes, ambiguous }) => [
    user_id,
    role,
    ambiguous ? 'ambiguous' : (scopes?.join(', ') ?? 'by role'),
  ]);
  return textTable(['USER', 'ROLE', 'SCOPES'], rows);
}

const listMembersOperation = defineOperation({
  name: 'member.list',
  summary: 'List who may use this vault',
  input: z.strictObject({}),
  output: MemberListResponse,
  access: { can: 'administer' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/members', tag: 'Identity' },
  cli: { command: 'member list', render: ({ members }) => memberTable(members) },
  handle: async ({ database, principal }: Context<IdentityNeeds>) => ({
    schema: 'flowright.member_list/v1' as const,
    vault_id: principal.vault_id,
    members: await listMembers(database.queries, principal.vault_id),
  }),
});

const setMember = defineOperation({
  name: 'member.set',
  summary: 'Add a member to this vault, or change a role',
  input: z.strictObject({
    user: UserId,
    role: RoleSchema,
    scopes: z.array(z.enum(SCOPES)).min(1).optional().describe('Flow scopes instead of those of the role'),
    ambiguous: z.boolean().default(false).describe('Refuse every flow call until settled'),
  }),
  output: MemberResponse,
  access: { can: 'administer' },
  effect: 'write',
  http: { method: 'PUT', path: '/api/v1/members/{user}', tag: 'Identity' },
  cli: {
    command: 'member set <user>',
    examples: [
      'flowright member set sam --role editor',
      'flowright member set kim --role viewer --scopes personal,project',
    ],
    render: ({ member }) => memberTable([member]),
  },
  errors: ['CONFLICT'],
  audit: ({ user, role, scopes, ambiguous }) => ({ user, role, scopes: scopes ?? null, ambiguous }),
  handle: async ({ trx, clock, principal }: Context<IdentityNeeds>, input) => {
    const member: Membership = {
      user_id: input.user,
      role: input.role,
      scopes: input.scopes ?? null,
      ambiguous: input.ambiguous,
    };
    await setMembership(trx, clock, principal.vault_id, member);
    return { schema: 'flowright.member/v1' as const, vault_id: principal.vault_id, member };
  },
});

const removeMember = defineOperation({
  name: 'member.remove',
  summary: 'Take a member out of this vault',
  input: z.strictObject({ user: UserId }),
  output: z
    .strictObject({ schema: z.literal('flowright.member_removed/v1'), vault_id: z.string(), user_id: z.string() })
    .meta({ id: 'MemberRemovedResponse' }),
  access: { can: 'administer' },
  effect: 'destructive',
  http: { method: 'DELETE', path: '/api/v1/members/{user}', tag: 'Identity' },
  cli: {
    command: 'member remove <user>',
    render: ({ user_id, vault_id }) => `${user_id} is no longer a member of ${vault_id}.`,
  },
  errors: ['NOT_FOUND', 'CONFLICT'],
  audit: ({ user }) => ({ user }),
  handle: async ({ trx, principal }: Context<IdentityNeeds>, { user }) => {
    const removed = await removeMembership(trx, principal.vault_id, user);
    if (!removed) throw refusal('NOT_FOUND', `${user} is not a member of this vault.`);
    return { schema: 'flowright.member_removed/v1' as const, vault_id: principal.vault_id, user_id: user };
  },
});

export const memberOperations = [listMembersOperation, setMember, removeMember];
