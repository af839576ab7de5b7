import { ERRORS, FlowrightError } from '../../kernel/errors.ts';
import type { FlowiseClient } from '../client/client.ts';

export const CHECKS = ['ping', 'nodes', 'templates', 'credentials', 'chatflows', 'tools', 'variables'] as const;
export type CheckName = (typeof CHECKS)[number];

/** One thing that was tried. */
export interface Check {
  check: CheckName;
  ok: boolean;
  /** What an API key of Flowise 3 needs for it; null where any key will do. */
  permission: string | null;
  /** How many there are; null where nothing is counted or it failed. */
  count: number | null;
  code: string | null;
  message: string | null;
}

export interface Trial {
  ok: boolean;
  flowise_version: string | null;
  checks: Check[];
  /** What is missing and what to do about it, a sentence each. */
  findings: string[];
}

interface Try {
  check: CheckName;
  permission: string | null;
  /** What does not work without it. */
  serves: string;
  ask(client: FlowiseClient): Promise<unknown[]>;
}

const TRIES: readonly Try[] = [
  {
    check: 'nodes',
    permission: null,
    serves: 'refreshing what is known of nodes',
    ask: (client) => client.listNodes(),
  },
  {
    check: 'templates',
    permission: 'templates:marketplace',
    serves: 'refreshing templates',
    ask: (client) => client.listTemplates(),
  },
  {
    check: 'credentials',
    permission: 'credentials:view',
    serves: 'binding credentials',
    ask: (client) => client.listCredentials(),
  },
  {
    check: 'chatflows',
    permission: 'chatflows:view',
    serves: 'reading chatflows',
    ask: (client) => client.listChatflows(),
  },
  { check: 'tools', permission: 'tools:view', serves: 'custom tools', ask: (client) => client.listTools() },
  {
    check: 'variables',
    permission: 'variables:view',
    serves: 'checking variables',
    ask: (client) => client.listVariables(),
  },
];

/** Tries what Flowright asks of a server, without changing anything there. Never throws for what the server does. */
export async function tryServer(client: FlowiseClient): Promise<Trial> {
  const ping = await attempt('ping', null, async () => {
    await client.ping();
    return null;
  });
  // Where nobody answers, each further question would wait just as long for the same news.
  if (!ping.ok) return trialOf(null, [ping]);
  const flowise_version = await client.version();
  const checks = [ping];
  for (const { check, permission, ask } of TRIES) {
    const tried = await attempt(check, permission, async () => (await ask(client)).length);
    checks.push(tried);
    if (tried.code === 'FLOWISE_UNAUTHORIZED' || tried.code === 'FLOWISE_TIMEOUT') break;
  }
  return trialOf(flowise_version, checks);
}

async function attempt(check: CheckName, permission: string | null, ask: () => Promise<number | null>): Promise<Check> {
  try {
    return { check, ok: true, permission, count: await ask(), code: null, message: null };
  } catch (error) {
    return failed(check, permission, error);
  }
}

function failed(check: CheckName, permission: string | null, error: unknown): Check {
  if (!(error instanceof FlowrightError)) throw error;
  return { check, ok: false, permission, count: null, code: error.code, message: error.message };
}

function trialOf(flowise_version: string | null, checks: Check[]): Trial {
  const bad = checks.filter(({ ok }) => !ok);
  return { ok: bad.length === 0, flowise_version, checks, findings: bad.map(findingOf) };
}

function findingOf({ check, permission, code, message }: Check): string {
  if (code !== 'FLOWISE_FORBIDDEN' || permission === null) return message ?? '';
  const { serves } = TRIES.find((candidate) => candidate.check === check) as Try;
  return `The API key lacks the permission ${permission}, so ${serves} will not work. ${ERRORS.FLOWISE_FORBIDDEN.next}`;
}

/** A server that cannot even be asked: its key does not open, or its address is none. */
export function untried(error: unknown): Trial {
  return trialOf(null, [failed('ping', null, error)]);
}
