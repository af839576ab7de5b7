import * as z from 'zod';
import { refusal } from '../kernel/errors.ts';
import { textTable } from '../kernel/terminal.ts';
import { type Context, defineOperation } from '../operations/index.ts';
import { addUser, setUserDisabled } from './directory.ts';
import { UserId } from './member-operations.ts';
import type { IdentityNeeds } from './operations.ts';

const UserSchema = z
  .strictObject({ user_id: z.string(), created_at: z.string(), disabled_at: z.string().nullable() })
  .meta({ id: 'User' });

const UserResponse = z
  .strictObject({ schema: z.literal('flowright.user/v1'), user: UserSchema })
  .meta({ id: 'UserResponse' });

type User = z.output<typeof UserSchema>;

function userTable(users: User[]): string {
  const rows = users.map((user) => [user.user_id, user.disabled_at ? 'disabled' : 'active', user.created_at]);
  return textTable(['USER', 'STATE', 'SINCE'], rows);
}

async function readUser(context: Context<IdentityNeeds>, userId: string) {
  const user = await context.trx
    .selectFrom('users')
    .selectAll()
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return { schema: 'flowright.user/v1' as const, user };
}

const listUsers = defineOperation({
  name: 'user.list',
  summary: 'List the users of this hub',
  input: z.strictObject({}),
  output: z
    .strictObject({ schema: z.literal('flowright.user_list/v1'), users: z.array(UserSchema) })
    .meta({ id: 'UserListResponse' }),
  access: { can: 'administer', hub: true },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/users', tag: 'Identity' },
  cli: { command: 'user list', render: ({ users }) => userTable(users) },
  handle: async ({ database }: Context<IdentityNeeds>) => ({
    schema: 'flowright.user_list/v1' as const,
    users: await database.queries.selectFrom('users').selectAll().orderBy('user_id').execute(),
  }),
});

const createUser = defineOperation({
  name: 'user.create',
  summary: 'Add a user, without any membership yet',
  input: z.strictObject({ user: UserId }),
  output: UserResponse,
  access: { can: 'administer', hub: true },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/users', status: 201, tag: 'Identity' },
  cli: {
    command: 'user create <user>',
    examples: ['flowright user create sam', 'flowright member set sam --role editor'],
    render: ({ user }) => userTable([user]),
  },
  errors: ['CONFLICT'],
  audit: ({ user }) => ({ user }),
  handle: async (context: Context<IdentityNeeds>, { user }) => {
    const isNew = await addUser(context.trx, context.clock, user);
    if (!isNew) throw refusal('CONFLICT', `There is already a user ${user}.`);
    return readUser(context, user);
  },
});

const setDisabled = (verb: 'disable' | 'enable', summary: string) =>
  defineOperation({
    name: `user.${verb}`,
    summary,
    input: z.strictObject({ user: UserId }),
    output: UserResponse,
    access: { can: 'administer', hub: true },
    effect: verb === 'disable' ? 'destructive' : 'write',
    http: { method: 'POST', path: `/api/v1/users/{user}/${verb}`, tag: 'Identity' },
    cli: { command: `user ${verb} <user>`, render: ({ user }) => userTable([user]) },
    errors: ['NOT_FOUND', 'CONFLICT'],
    audit: ({ user }) => ({ user }),
    handle: async (context: Context<IdentityNeeds>, { user }) => {
      await setUserDisabled(context.trx, context.clock, user, verb === 'disable');
      return readUser(context, user);
    },
  });

export const userOperations = [
  listUsers,
  createUser,
  setDisabled('disable', 'Stop a user: all tokens and sessions of that user are refused'),
  setDisabled('enable', 'Let a disabled user back in'),
];
