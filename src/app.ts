import { join } from 'node:path';
import { Attachments } from './attachments/index.ts';
import { AuditLog } from './audit/index.ts';
import { connect, createFreshness, type Database, migrate } from './database/index.ts';
import type { DraftReader } from './diff/index.ts';
import { importOldFiles } from './first-import.ts';
import { migrateConfigs } from './flowcharts/graph/migrate-configs.ts';
import type { RuntimeHost } from './flowcharts/index.ts';
import { openRuntime } from './flowcharts/runtime/open-runtime.ts';
import type { FlowiseServers } from './flowise/index.ts';
import { FlowLibrary } from './flows/index.ts';
import { packageRoot, readHubLock } from './home/index.ts';
import { DEFAULT_VAULT, ensureOwner, OWNER, Principals } from './identity/index.ts';
import { type Clock, systemClock } from './kernel/clock.ts';
import type { Config } from './kernel/config.ts';
import type { Log } from './kernel/log.ts';
import { onFirstUse } from './kernel/on-first-use.ts';
import type { Knowledge, KnowledgeFolders } from './knowledge/index.ts';
import { createLlm, type Llm } from './llm/index.ts';
import { type Catalogue, createInvoke, type Invoke } from './operations/index.ts';
import { Policy } from './policy/index.ts';
import type { ProposalTargets } from './proposals/index.ts';
import { createCatalogue } from './rooms.ts';
import { openSealing } from './sealing.ts';
import type { Settings } from './settings.ts';
import { Files, Notes, type NoteVisibility } from './vault/index.ts';

/** Everything handlers may need, by name. */
export interface Services {
  database: Database;
  clock: Clock;
  config: Config;
  log: Log;
  flows: FlowLibrary;
  auditLog: AuditLog;
  policy: Policy;
  files: Files;
  notes: Notes;
  noteVisibility: NoteVisibility;
  targets: ProposalTargets;
  drafts: DraftReader;
  llm: Llm;
  attachments: Attachments;
  runtime: RuntimeHost;
  flowise: FlowiseServers;
  knowledge: Knowledge;
  knowledgeFolders: KnowledgeFolders;
  /** Seals what is stored of other systems' secrets; made on first use. */
  sealingKey: () => Buffer;
}

/** The wired program: what every door is given. */
export interface App {
  settings: Settings;
  services: Services;
  catalogue: Catalogue;
  principals: Principals;
  invoke: Invoke;
  close(): Promise<void>;
}

export interface AppOptions {
  log: Log;
  clock?: Clock;
  starterDir?: string;
  /** Whether a new home gets the example flowcharts; it does unless said. */
  examples?: boolean;
}

/** Reading flows, which most commands do, needs none of what changes them. */
const authoring = () => import('./authoring/index.ts');

/** The one place that wires. An empty home or database is made ready on the way. */
export async function openApp(settings: Settings, options: AppOptions): Promise<App> {
  const clock = options.clock ?? systemClock;
  const { config, paths } = settings;
  const database = await connect({ url: config.database_url, file: paths.database });
  try {
    await migrate(database);
    await migrateConfigs(database, clock);
    const isNew = await ensureOwner(database, clock);
    if (isNew && options.examples !== false) {
      const { addExamples } = await import('./flowcharts/graph/add-examples.ts');
      await addExamples(database, clock, { vault_id: DEFAULT_VAULT, user_id: OWNER });
    }
    await importOldFiles({ database, clock, dataDir: paths.home, log: options.log });
  } catch (error) {
    await database.close();
    throw error;
  }
  const freshness = createFreshness(database);
  const auditLog = new AuditLog(database, clock);
  const { log } = options;
  const policy = new Policy(paths.home, settings.gates);
  const files = new Files({ database, clock, log, home: paths.home, vaultsDir: config.vaults_dir ?? paths.vaults });
  const notes = new Notes({ database, files });
  // A process that died after a commit left files unwritten; they are written now.
  await files.settle();
  const llm = createLlm({ config, log });
  const attachments = new Attachments({
    database,
    dir: paths.attachments,
    limitBytes: config.attachment_limit_bytes,
  });
  const runtime = openRuntime(async () =>
    (await import('./flowcharts/runtime/create-dispatcher.ts')).createDispatcher({
      database,
      clock,
      log,
      llm,
      attachments,
      runsAtOnce: config.runs_at_once,
      isServedElsewhere: () => isServedElsewhere(paths, config.database_url),
    }),
  );
  const sealing = await openSealing(paths.sealingKey, database.queries);
  let servers: FlowiseServers | undefined;
  const flowise = onFirstUse(async () => {
    const { createServers } = await import('./flowise/index.ts');
    const made = createServers({ database, config, origins: settings.origins, clock, log, sealingKey: sealing });
    servers = made;
    return made;
  });
  const knowledgeFolders: KnowledgeFolders = {
    schemasDir: paths.schemas,
    baselineDir: join(packageRoot(), 'schemas'),
    reference: join(packageRoot(), 'FLOWISE_NODE_REFERENCE.md'),
  };
  const knowledge = onFirstUse(async () => {
    const { createKnowledge } = await import('./knowledge/index.ts');
    return createKnowledge({ config, clock, log, servers: flowise, ...knowledgeFolders });
  });
  const services: Services = {
    flowise,
    knowledge,
    knowledgeFolders,
    sealingKey: sealing,
    llm,
    attachments,
    runtime,
    database,
    clock,
    config,
    log,
    auditLog,
    policy,
    files,
    notes,
    noteVisibility: onFirstUse(async () => (await authoring()).createNoteVisibility(database)),
    targets: {
      note: onFirstUse(async () => (await import('./proposals/index.ts')).createNoteTarget({ database, files, notes })),
      flow: onFirstUse(async () => (await authoring()).createFlowTarget({ database, clock, policy, files })),
    },
    drafts: onFirstUse(async () => (await authoring()).createDraftReader(database)),
    flows: new FlowLibrary({
      database,
      freshness,
      clock,
      log,
      ...(options.starterDir ? { starterDir: options.starterDir } : {}),
    }),
  };
  return {
    settings,
    services,
    catalogue: createCatalogue(),
    principals: new Principals({ database, freshness, clock }),
    invoke: createInvoke(services, database, auditLog),
    close: async () => {
      await runtime.close();
      await servers?.close();
      await auditLog.flush();
      await database.close();
    },
  };
}

/** A hub on this data folder walks its runs; who shares a PostgreSQL walks their own. */
function isServedElsewhere(paths: Settings['paths'], databaseUrl: string | null): boolean {
  if (databaseUrl !== null) return false;
  const hub = readHubLock(paths);
  return hub !== null && hub.pid !== process.pid;
}
