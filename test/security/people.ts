import { flowright, flowrightJson, type ProgramOptions } from '../support/program.ts';

export interface Grant {
  role?: string;
  vault?: string;
  agent?: boolean;
}

/** Makes the user a member where new and returns the secret of a token. */
export async function tokenFor(options: ProgramOptions, user: string, grant: Grant = {}): Promise<string> {
  return (await newToken(options, user, grant)).token;
}

export function newToken(options: ProgramOptions, user: string, grant: Grant = {}) {
  const args = ['token', 'create', '--user', user];
  if (grant.role) args.push('--role', grant.role);
  if (grant.vault) args.push('--vault', grant.vault);
  if (grant.agent) args.push('--agent');
  return flowrightJson<{ token: string; token_id: string }>(args, options);
}

/** Runs a command that must succeed. */
export async function must(args: string[], options: ProgramOptions): Promise<string> {
  const { status, stdout, stderr } = await flowright(args, options);
  if (status !== 0) throw new Error(`flowright ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}
