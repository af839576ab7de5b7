import * as z from 'zod';
import { refusal } from '../kernel/errors.ts';
import { VAULT_ID_RE } from '../kernel/ids.ts';
import { textTable } from '../kernel/terminal.ts';
import { type Context, defineOperation, plainText, type Role } from '../operations/index.ts';
import { addVault, setMembership } from './directory.ts';
import { RoleSchema } from './member-operations.ts';
import type { IdentityNeeds } from './operations.ts';

/** Starter revisions as the flow library reads them: 0 has had none yet, -1 wants none. */
const STARTERS_TO_COME = 0;
const STARTERS_UNWANTED = -1;

const VaultSchema = z
  .strictObject({ vault_id: z.string(), title: z.string(), role: RoleSchema, created_at: z.string() })
  .meta({ id: 'Vault' });

type Vault = z.output<typeof VaultSchema>;

function vaultTable(vaults: Vault[]): string {
  return textTable(
    ['VAULT', 'ROLE', 'TITLE'],
    vaults.map(({ vault_id, role, title }) => [vault_id, role, title]),
  );
}

const listVaults = defineOperation({
  name: 'vault.list',
  summary: 'List the vaults you may use',
  input: z.strictObject({}),
  output: z
    .strictObject({ schema: z.literal('flowright.vault_list/v1'), vaults: z.array(VaultSchema) })
    .meta({ id: 'VaultListResponse' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/vaults', tag: 'Identity' },
  mcp: { tool: 'vault_list' },
  cli: { command: 'vault list', render: ({ vaults }) => (vaults.length ? vaultTable(vaults) : '(no vaults)') },
  handle: async ({ database, principal }: Context<IdentityNeeds>) => {
    const rows = await database.queries
      .selectFrom('memberships')
      .innerJoin('vaults', 'vaults.vault_id', 'memberships.vault_id')
      .select(['vaults.vault_id', 'title', 'role', 'vaults.created_at'])
      .where('user_id', '=', principal.user_id)
      .orderBy('vaults.vault_id')
      .execute();
    return {
      schema: 'flowright.vault_list/v1' as const,
      vaults: rows.map(({ vault_id, title, role, created_at }) => ({
        vault_id,
        title,
        role: role as Role,
        created_at,
      })),
    };
  },
});

const createVault = defineOperation({
  name: 'vault.create',
  summary: 'Create a vault; you become its admin',
  input: z.strictObject({
    vault_id: z
      .string()
      .regex(VAULT_ID_RE, 'must begin with a letter or digit and hold only letters, digits, - and _')
      .describe('Id of the new vault'),
    title: plainText(200).optional().describe('Name for people'),
    starters: z.boolean().default(true).describe('Starter flows; --no-starters leaves the vault empty'),
  }),
  output: z.strictObject({ schema: z.literal('flowright.vault/v1'), vault: VaultSchema }).meta({ id: 'VaultResponse' }),
  access: { can: 'administer', hub: true },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/vaults', status: 201, tag: 'Identity' },
  cli: {
    command: 'vault create <vault_id>',
    examples: ['flowright vault create research', 'flowright vault create bare --no-starters'],
    render: ({ vault }) => vaultTable([vault]),
  },
  errors: ['CONFLICT'],
  audit: ({ vault_id, starters }) => ({ vault_id, starters }),
  handle: async ({ trx, clock, principal }: Context<IdentityNeeds>, input) => {
    const { vault_id } = input;
    const title = input.title ?? vault_id;
    const starter_revision = input.starters ? STARTERS_TO_COME : STARTERS_UNWANTED;
    const isNew = await addVault(trx, clock, { vault_id, title, starter_revision });
    if (!isNew) throw refusal('CONFLICT', `There is already a vault ${vault_id}.`);
    const role = 'admin' as const;
    await setMembership(trx, clock, vault_id, { user_id: principal.user_id, role, scopes: null, ambiguous: false });
    const { created_at } = await trx
      .selectFrom('vaults')
      .select('created_at')
      .where('vault_id', '=', vault_id)
      .executeTakeFirstOrThrow();
    return { schema: 'flowright.vault/v1' as const, vault: { vault_id, title, role, created_at } };
  },
});

export const vaultOperations = [listVaults, createVault];
