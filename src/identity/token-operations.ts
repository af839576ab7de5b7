import * as z from 'zod';
import type { TokensTable } from '../database/index.ts';
import { refusal } from '../kernel/errors.ts';
import { textTable } from '../kernel/terminal.ts';
import { type Context, defineOperation, plainText, type Role } from '../operations/index.ts';
import { findStoredMembership, setMembership } from './directory.ts';
import { RoleSchema, UserId } from './member-operations.ts';
import type { IdentityNeeds } from './operations.ts';
import { addToken, listTokens, revokeToken } from './tokens.ts';

const DAY_MS = 24 * 60 * 60_000;

const TokenSchema = z
  .strictObject({
    token_id: z.string(),
    user_id: z.string(),
    vault_id: z.string(),
    agent: z.boolean().describe('Acts as an agent: never approves or administers'),
    label: z.string(),
    created_at: z.string(),
    expires_at: z.string(),
    revoked_at: z.string().nullable(),
  })
  .meta({ id: 'Token' });

function tokenOf(row: TokensTable): z.output<typeof TokenSchema> {
  const { token_id, user_id, vault_id, agent, label, created_at, expires_at, revoked_at } = row;
  return { token_id, user_id, vault_id, agent: agent === 1, label, created_at, expires_at, revoked_at };
}

const createToken = defineOperation({
  name: 'token.create',
  summary: 'Create a bearer token; user and membership are added when new',
  input: z.strictObject({
    user: UserId,
    role: RoleSchema.optional().describe('Role of a new member; of a known one it must be the role held'),
    agent: z.boolean().default(false).describe('For a program: it may never approve or administer'),
    label: plainText(200).default('').describe('What the token is for'),
    days: z.int().min(1).max(3_650).optional().describe('Days until it expires'),
  }),
  output: z
    .strictObject({
      schema: z.literal('flowright.token_created/v1'),
      token: z.string().describe('The secret, shown this once'),
      role: RoleSchema,
      ...TokenSchema.shape,
    })
    .meta({ id: 'TokenCreatedResponse' }),
  access: { can: 'administer' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/tokens', status: 201, tag: 'Identity' },
  cli: {
    command: 'token create',
    examples: [
      'flowright token create --user sam --role editor',
      'flowright token create --user ci --role viewer --agent --days 30 --json',
    ],
    render: (created) =>
      `${created.token}\n\nA token for ${created.user_id} (${created.role} in ${created.vault_id}), until ${created.expires_at}.\nIt is not shown again.`,
  },
  errors: ['CONFLICT'],
  audit: ({ user, agent }, { role, token_id }) => ({ user, role, agent, token_id }),
  handle: async (context: Context<IdentityNeeds>, input) => {
    const role = await memberRole(context, input.user, input.role);
    const { secret, row } = await addToken(context.trx, context.clock, {
      purpose: 'bearer',
      user_id: input.user,
      vault_id: context.principal.vault_id,
      agent: input.agent,
      label: input.label,
      lifetime_ms: (input.days ?? context.config.token_days) * DAY_MS,
    });
    return { schema: 'flowright.token_created/v1' as const, token: secret, role, ...tokenOf(row) };
  },
});

/** The role the token's user has here. A token never changes the role of somebody who is a member already. */
async function memberRole(context: Context<IdentityNeeds>, userId: string, wanted: Role | undefined): Promise<Role> {
  const { trx, clock, principal } = context;
  const stored = await findStoredMembership(trx, userId, principal.vault_id);
  if (stored?.disabled) {
    throw refusal('CONFLICT', `${userId} is disabled. Run \`flowright user enable ${userId}\` first.`);
  }
  const known = stored?.membership;
  if (!known) {
    if (!wanted) throw refusal('BAD_REQUEST', `${userId} is not a member yet: say which role with --role.`);
    await setMembership(trx, clock, principal.vault_id, {
      user_id: userId,
      role: wanted,
      scopes: null,
      ambiguous: false,
    });
    return wanted;
  }
  if (wanted && wanted !== known.role) {
    throw refusal(
      'CONFLICT',
      `${userId} is ${known.role} here, not ${wanted}. Leave the role out, or change it with \`flowright member set ${userId} --role ${wanted}\`.`,
    );
  }
  return known.role;
}

const listTokensOperation = defineOperation({
  name: 'token.list',
  summary: 'List the tokens of this vault, without their secrets',
  input: z.strictObject({ user: UserId.optional().describe('Only this user') }),
  output: z
    .strictObject({ schema: z.literal('flowright.token_list/v1'), vault_id: z.string(), tokens: z.array(TokenSchema) })
    .meta({ id: 'TokenListResponse' }),
  access: { can: 'administer' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/tokens', tag: 'Identity' },
  cli: {
    command: 'token list',
    render: ({ tokens }) => {
      const rows = tokens.map((token) => [
        token.token_id,
        token.user_id,
        token.agent ? 'agent' : 'person',
        token.revoked_at ? 'revoked' : `until ${token.expires_at}`,
        token.label,
      ]);
      return tokens.length === 0 ? '(no tokens)' : textTable(['TOKEN', 'USER', 'KIND', 'STATE', 'LABEL'], rows);
    },
  },
  handle: async ({ database, principal }: Context<IdentityNeeds>, { user }) => ({
    schema: 'flowright.token_list/v1' as const,
    vault_id: principal.vault_id,
    tokens: (await listTokens(database.queries, principal.vault_id, user)).map(tokenOf),
  }),
});

const revokeTokenOperation = defineOperation({
  name: 'token.revoke',
  summary: 'Revoke a token; it is refused from the next request on',
  input: z.strictObject({
    token_id: z
      .string()
      .regex(/^tok_[0-9a-f]{16}$/, 'must be an id from token list')
      .describe('Id from token list'),
  }),
  output: z
    .strictObject({ schema: z.literal('flowright.token_revoked/v1'), token_id: z.string() })
    .meta({ id: 'TokenRevokedResponse' }),
  access: { can: 'administer' },
  effect: 'destructive',
  http: { method: 'DELETE', path: '/api/v1/tokens/{id}', rename: { id: 'token_id' }, tag: 'Identity' },
  cli: { command: 'token revoke <token_id>', render: ({ token_id }) => `${token_id} is revoked.` },
  errors: ['NOT_FOUND'],
  audit: ({ token_id }) => ({ token_id }),
  handle: async ({ trx, clock, principal }: Context<IdentityNeeds>, { token_id }) => {
    const revoked = await revokeToken(trx, clock, principal.vault_id, token_id);
    if (!revoked) throw refusal('NOT_FOUND', `There is no live token ${token_id} in this vault.`);
    return { schema: 'flowright.token_revoked/v1' as const, token_id };
  },
});

export const tokenOperations = [createToken, listTokensOperation, revokeTokenOperation];
