import { ERRORS, FlowrightError } from '../../kernel/errors.ts';
import type { FlowiseClient } from '../client/client.ts';
import type { WriteTrial } from '../client/write-trials.ts';

export const CHECKS = [
  'ping',
  'nodes',
  'templates',
  'credentials',
  'chatflows',
  'tools',
  'variables',
  'create_chatflow',
  'update_chatflow',
  'delete_chatflow',
  'create_tool',
  'delete_tool',
] as const;
export type CheckName = (typeof CHECKS)[number];

/** One thing that was tried. */
export interface Check {
  check: CheckName;
  kind: 'read' | 'write';
  ok: boolean;
  /** What an API key of Flowise 3 needs for it; null where any key will do. */
  permission: string | null;
  /** Flowright does something with it; what it never does may fail. */
  needed: boolean;
  /** How many there are; null where nothing is counted or it failed. */
  count: number | null;
  code: string | null;
  message: string | null;
}

export interface Trial {
  ok: boolean;
  flowise_version: string | null;
  /** Whether the checks say anything about writing. */
  writes_tried: boolean;
  checks: Check[];
  /** What is missing and what to do about it, a sentence each. */
  findings: string[];
}

interface Try extends Pick<Check, 'check' | 'kind' | 'permission' | 'needed'> {
  /** What does not work without it. */
  serves: string;
  ask(client: FlowiseClient): Promise<number | null>;
}

const PING = read('ping', null, 'everything', async (client) => {
  await client.ping();
  return null;
});

const READS: readonly Try[] = [
  read('nodes', null, 'refreshing what is known of nodes', async (client) => (await client.listNodes()).length),
  read('templates', 'templates:marketplace', 'refreshing templates', async (client) => {
    return (await client.listTemplates()).length;
  }),
  read('credentials', 'credentials:view', 'binding credentials', async (client) => {
    return (await client.listCredentials()).length;
  }),
  read('chatflows', 'chatflows:view', 'reading chatflows', (client) => client.countChatflows()),
  read('tools', 'tools:view', 'custom tools', async (client) => (await client.listTools()).length),
  read('variables', 'variables:view', 'checking variables', async (client) => (await client.listVariables()).length),
];

const WRITES: readonly Try[] = [
  write('create_chatflow', 'chatflows:create', 'creating chatflows'),
  write('update_chatflow', 'chatflows:update', 'changing chatflows'),
  { ...write('delete_chatflow', 'chatflows:delete', 'nothing'), needed: false },
  write('create_tool', 'tools:create', 'creating custom tools'),
  write('delete_tool', 'tools:delete', 'taking back a custom tool whose chatflow was refused'),
];

function read(check: CheckName, permission: string | null, serves: string, ask: Try['ask']): Try {
  return { check, kind: 'read', permission, needed: true, serves, ask };
}

function write(check: CheckName, permission: WriteTrial, serves: string): Try {
  const ask: Try['ask'] = async (client) => {
    await client.tryWrite(permission);
    return null;
  };
  return { check, kind: 'write', permission, needed: true, serves, ask };
}

/** Tries what Flowright asks of a server, without changing anything there. Never throws for what the server does. */
export async function tryServer(client: FlowiseClient): Promise<Trial> {
  const ping = await attempt(PING, client);
  // Where nobody answers, each further question would wait just as long for the same news.
  if (!ping.ok) return trialOf(null, [ping]);
  const flowise_version = await client.version();
  const checks = [ping];
  for (const each of [...READS, ...(hasPermissions(flowise_version) ? WRITES : [])]) {
    const tried = await attempt(each, client);
    checks.push(tried);
    if (tried.code === 'FLOWISE_UNAUTHORIZED' || tried.code === 'FLOWISE_TIMEOUT') break;
  }
  return trialOf(flowise_version, checks);
}

/** Before Flowise 3 a key may do everything: there is nothing to try. */
export function hasPermissions(version: string | null): boolean {
  return Number.parseInt(version ?? '', 10) >= 3;
}

async function attempt(one: Try, client: FlowiseClient): Promise<Check> {
  const { check, kind, permission, needed } = one;
  try {
    const count = await one.ask(client);
    return { check, kind, ok: true, permission, needed, count, code: null, message: null };
  } catch (error) {
    return failed(one, error);
  }
}

function failed({ check, kind, permission, needed }: Try, error: unknown): Check {
  if (!(error instanceof FlowrightError)) throw error;
  return { check, kind, ok: false, permission, needed, count: null, code: error.code, message: error.message };
}

function trialOf(flowise_version: string | null, checks: Check[]): Trial {
  const bad = checks.filter(({ ok, needed }) => needed && !ok);
  const writes_tried = checks.some(({ kind }) => kind === 'write');
  return { ok: bad.length === 0, flowise_version, writes_tried, checks, findings: bad.map(findingOf) };
}

function findingOf({ check, permission, code, message }: Check): string {
  if (code !== 'FLOWISE_FORBIDDEN' || permission === null) return message ?? '';
  const { serves } = [...READS, ...WRITES].find((candidate) => candidate.check === check) as Try;
  return `The API key lacks the permission ${permission}, so ${serves} will not work. ${ERRORS.FLOWISE_FORBIDDEN.next}`;
}

/** A server that cannot even be asked: its key does not open, or its address is none. */
export function untried(error: unknown): Trial {
  return trialOf(null, [failed(PING, error)]);
}
