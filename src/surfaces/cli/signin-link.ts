import type { App } from '../../app.ts';
import { createSigninCode, DEFAULT_VAULT } from '../../identity/index.ts';
import { refusal } from '../../kernel/errors.ts';

/** A new one-time link that signs the configured identity in. */
export async function signinLink(app: App, url: string): Promise<string> {
  const user_id = await assertIdentity(app);
  const { database, clock } = app.services;
  const code = await createSigninCode(database, clock, { user_id, vault_id: DEFAULT_VAULT });
  return `${url}/signin?code=${code}`;
}

/** The identity that links are made for, which must be a member of the vault they open. */
export async function assertIdentity(app: App): Promise<string> {
  const { identity } = app.settings.config;
  if (identity === null) {
    throw refusal(
      'CONFIG_INVALID',
      'No identity is configured, so nobody can sign in. Set `identity: local` in config.yaml.',
    );
  }
  try {
    await app.principals.local({ identity, vaultId: DEFAULT_VAULT, narrowTo: null, agent: false });
  } catch {
    throw refusal(
      'CONFIG_INVALID',
      `The configured identity ${identity} is not a member of the vault ${DEFAULT_VAULT}. Set \`identity\` in config.yaml to one that is.`,
    );
  }
  return identity;
}

export function addressOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** An address that listens everywhere is no address to go to. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
