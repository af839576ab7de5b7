import { join, resolve } from 'node:path';
import type { FlowiseServers, ServerRecord } from '../flowise/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import type { Config } from '../kernel/config.ts';
import { asFlowrightError, ERRORS, refusal } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { refreshCredentials, refreshTemplates } from './refresh-lists.ts';
import { refreshNodes } from './refresh-nodes.ts';
import { failed, PARTS, type Part, type PartReport } from './refresh-report.ts';
import type { RefreshTarget } from './refresh-target.ts';
import { validatePart } from './refresh-validate.ts';
import { refreshWorkday } from './refresh-workday.ts';
import { serverFolder, sourceHost } from './server-folder.ts';

/** Where snapshots lie, as the program is installed and set up. */
export interface KnowledgeFolders {
  /** Where servers get a folder each, unless a setting names one for all. */
  schemasDir: string;
  /** Snapshots that came with the program; never written. */
  baselineDir: string;
  /** The reference that came with the program. */
  reference: string;
}

export interface RefreshDeps {
  flowise: FlowiseServers;
  knowledgeFolders: KnowledgeFolders;
  config: Config;
  clock: Clock;
  log: Log;
}

export interface RefreshRequest {
  parts: ReadonlySet<Part>;
  fromApi: boolean;
  fromReference: boolean;
  writeReference: boolean;
  isDryRun: boolean;
  isValidation: boolean;
  server: string | undefined;
}

export interface RefreshOutcome {
  /** Null when no server is configured. */
  server: string | null;
  parts: PartReport[];
}

/** Part by part: what fails is told, and the others go on. */
export async function refreshKnowledge(
  deps: RefreshDeps,
  vaultId: string,
  request: RefreshRequest,
): Promise<RefreshOutcome> {
  const server = await serverMeant(deps.flowise, vaultId, request.server);
  const target = targetOf(deps, vaultId, server, request);
  const reports: PartReport[] = [];
  for (const part of PARTS.filter((one) => request.parts.has(one))) {
    reports.push(await settled(deps, part, () => refreshPart(deps, target, part, request)));
  }
  return { server: server?.name ?? null, parts: reports };
}

async function refreshPart(
  { config, knowledgeFolders }: RefreshDeps,
  target: RefreshTarget,
  part: Part,
  request: RefreshRequest,
): Promise<PartReport> {
  const isWorkday = part === 'workday_mcp' || part === 'workday_api';
  const place = isWorkday ? { ...target, folder: workdayFolder(config, knowledgeFolders), host: null } : target;
  if (request.isValidation) return validatePart(place, part);
  if (isWorkday) return refreshWorkday(place, part, config);
  if (part === 'nodes') return refreshNodes(target, request);
  return part === 'templates' ? refreshTemplates(target) : refreshCredentials(target);
}

async function settled(deps: RefreshDeps, part: Part, work: () => Promise<PartReport>): Promise<PartReport> {
  try {
    return await work();
  } catch (thrown) {
    const error = asFlowrightError(thrown);
    if (error.code === 'INTERNAL_ERROR') deps.log.error({ err: thrown, part }, 'refreshing knowledge failed');
    return failed(part, { code: error.code, message: error.message });
  }
}

/** The named one, else the one that is meant; null when there is none and none is named. */
export async function serverMeant(
  servers: FlowiseServers,
  vaultId: string,
  name: string | undefined,
): Promise<ServerRecord | null> {
  const all = await servers.list(vaultId);
  const found = all.find((server) => (name === undefined ? server.is_default : server.name === name));
  // Its words name those there are.
  if (!found && (name !== undefined || all.length > 0)) await servers.client(vaultId, name);
  return found ?? null;
}

/** Workday is no Flowise server, and the same for all of them. */
export function workdayFolder(config: Config, folders: Pick<KnowledgeFolders, 'schemasDir'>): string {
  if (config.knowledge_schemas_dir !== null) return resolve(config.knowledge_schemas_dir);
  return join(folders.schemasDir, 'workday');
}

const NO_SERVER = 'default';

export function folderOf(
  { config, knowledgeFolders: { schemasDir } }: Pick<RefreshDeps, 'config' | 'knowledgeFolders'>,
  vaultId: string,
  server: ServerRecord | null,
): string {
  return serverFolder({ config, schemasDir }, vaultId, server?.name ?? NO_SERVER);
}

function targetOf(
  deps: RefreshDeps,
  vaultId: string,
  server: ServerRecord | null,
  request: RefreshRequest,
): RefreshTarget {
  let version: Promise<string | null> | undefined;
  const client = async () => {
    if (server) return deps.flowise.client(vaultId, server.name);
    throw refusal('FLOWISE_SERVER_UNKNOWN', `No Flowise server is configured. ${ERRORS.FLOWISE_SERVER_UNKNOWN.next}`);
  };
  return {
    folder: folderOf(deps, vaultId, server),
    baselineDir: deps.knowledgeFolders.baselineDir,
    reference: deps.knowledgeFolders.reference,
    host: server ? sourceHost(server.url) : null,
    now: isoNow(deps.clock),
    isDryRun: request.isDryRun,
    client,
    version: () => {
      version ??= client()
        .then((asked) => asked.version())
        .catch(() => null);
      return version;
    },
  };
}
