import { flowright, type ProgramOptions } from '../support/program.ts';
import { openInside } from './inside.ts';

export interface Grant {
  role?: string;
  vault?: string;
  agent?: boolean;
}

/** Makes the user a member where new and returns the secret of a token. */
export async function tokenFor(options: ProgramOptions, user: string, grant: Grant = {}): Promise<string> {
  return (await newToken(options, user, grant)).token;
}

/** Made inside this process: what only prepares a test needs no program of its own. */
export async function newToken(options: ProgramOptions, user: string, { role, vault, agent }: Grant = {}) {
  const { home, databaseUrl, env = {} } = options;
  const inside = await openInside({ home, databaseUrl }, env);
  try {
    const given = { user, ...(role ? { role } : {}), ...(agent ? { agent } : {}) };
    return await inside.as<{ token: string; token_id: string }>('local', 'token.create', given, vault ? { vault } : {});
  } finally {
    await inside.close();
  }
}

/** Runs a command that must succeed. */
export async function must(args: string[], options: ProgramOptions): Promise<string> {
  const { status, stdout, stderr } = await flowright(args, options);
  if (status !== 0) throw new Error(`flowright ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}
