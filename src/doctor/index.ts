import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { sql } from 'kysely';
import { AuditLog } from '../audit/index.ts';
import { connect, createFreshness, type Database, migrationStatus } from '../database/index.ts';
import { readStarterBundles } from '../flows/index.ts';
import { readHubLock } from '../home/index.ts';
import { Principals } from '../identity/index.ts';
import { systemClock } from '../kernel/clock.ts';
import { asFlowrightError } from '../kernel/errors.ts';
import { inertLine } from '../kernel/terminal.ts';
import { Policy } from '../policy/index.ts';
import type { Settings } from '../settings.ts';
import { examineNotes } from '../vault/index.ts';
import type { Finding } from './finding.ts';
import { flowchartConfigs } from './flowchart-configs.ts';
import { sealing } from './sealing.ts';

export type { Finding } from './finding.ts';

const OLDEST_NODE = [20, 19] as const;

/** Looks at everything a start depends on. Never throws: what fails is a finding. */
export async function examine(load: () => Settings): Promise<Finding[]> {
  const findings = [nodeVersion(), starterFlows()];
  let settings: Settings;
  try {
    settings = load();
  } catch (error) {
    return [
      ...findings,
      wrong(asFlowrightError(error).message, 'Mend config.yaml or the environment, then run doctor again.'),
    ];
  }
  findings.push(good(`settings in ${settings.paths.config} are valid`), folderMode(settings), await port(settings));
  findings.push(...policyFiles(settings), model(settings));
  return [...findings, ...(await databaseFindings(settings))];
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isNewEnough = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  const what = `Node.js ${process.versions.node}`;
  return isNewEnough ? good(what) : wrong(what, `Install Node.js ${OLDEST_NODE.join('.')} or newer.`);
}

function starterFlows(): Finding {
  const rejected: string[] = [];
  const bundles = readStarterBundles({ onReject: (file, reason) => rejected.push(`${file}: ${reason}`) });
  if (rejected.length > 0)
    return wrong(`starter flows: ${rejected.join('; ')}`, 'Reinstall Flowright: its own files were changed.');
  return good(`${bundles.length} starter flows are valid`);
}

function folderMode({ paths }: Settings): Finding {
  const mode = statSync(paths.home).mode & 0o077;
  if (process.platform === 'win32' || mode === 0) return good(`${paths.home} is readable by you alone`);
  return {
    state: 'warning',
    what: `${paths.home} is open to other users of this machine`,
    fix: `chmod 700 ${paths.home}`,
  };
}

function policyFiles({ paths, gates }: Settings): Finding[] {
  const policy = new Policy(paths.home, gates);
  const findings = policy
    .damaged()
    .map(({ file, reason }) =>
      wrong(`${file} cannot be used: ${reason}; what it governs is closed`, `Mend or remove ${paths.home}/${file}.`),
    );
  for (const { file, key } of policy.unknownKeys()) {
    const what = inertLine(`${file} has a key that means nothing here: ${key}`);
    findings.push({ state: 'warning', what, fix: 'Check its spelling; `flowright policy show` lists the keys.' });
  }
  return findings.length === 0 ? [good('policy files can be read')] : findings;
}

async function port({ config, paths }: Settings): Promise<Finding> {
  const hub = readHubLock(paths);
  if (hub) return good(`a hub is running at ${hub.url} (process ${hub.pid})`);
  const where = `${config.host}:${config.port}`;
  const reason = await new Promise<string | null>((settle) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
    probe.listen({ host: config.host, port: config.port }, () => probe.close(() => settle(null)));
  });
  if (reason === null) return good(`${where} is free for the hub`);
  return { state: 'warning', what: `${where} cannot be used (${reason})`, fix: 'Set FLOWRIGHT_PORT to another port.' };
}

/** Whether there is a key is said, the key never. */
function model({ config }: Settings): Finding {
  if (config.llm === null) return good('no model is configured; flowcharts do without (FLOWRIGHT_LLM names one)');
  const keyName = `${config.llm.split(':')[0]?.toUpperCase()}_API_KEY`;
  const what = inertLine(`nodes ask ${config.llm}`);
  if (config.llm_api_key || process.env[keyName]) return good(`${what}, with a key`);
  if (config.llm_base_url !== null) return good(`${what} at an address of your own, without a key`);
  return { state: 'warning', what: `${what}, but there is no key`, fix: `Set FLOWRIGHT_LLM_API_KEY or ${keyName}.` };
}

async function databaseFindings(settings: Settings): Promise<Finding[]> {
  let database: Database;
  try {
    database = await connect({ url: settings.config.database_url, file: settings.paths.database });
  } catch (error) {
    return [
      wrong(
        asFlowrightError(error).message,
        settings.config.database_url
          ? 'Check DATABASE_URL and that the server is running.'
          : 'Restore a backup with `flowright restore FILE`, or check the permissions of the data folder.',
      ),
    ];
  }
  try {
    const status = await migrationStatus(database);
    if (status.current > status.latest)
      return [
        wrong(
          `the database has schema ${status.current}, this program knows ${status.latest}`,
          'Run the newer Flowright.',
        ),
      ];
    if (status.current === 0) return [{ state: 'warning', what: 'the database is empty', fix: 'flowright init' }];
    if (status.pending.length > 0)
      return [
        { state: 'warning', what: `${status.pending.length} migrations are pending`, fix: 'flowright db migrate' },
      ];
    return [
      await soundness(database, status.current),
      await identity(database, settings),
      await auditChain(database, settings),
      ...(await flowchartConfigs(database)),
      await sealing(database, settings.paths.sealingKey),
      ...(await examineNotes(settings.config.vaults_dir ?? settings.paths.vaults, database.queries)),
    ];
  } catch (error) {
    return [
      wrong(`the database cannot be read: ${(error as Error).message}`, 'Restore a backup with `flowright restore`.'),
    ];
  } finally {
    await database.close();
  }
}

async function soundness(database: Database, schema: number): Promise<Finding> {
  if (database.dialect === 'sqlite') {
    const check = await sql<{ quick_check: string }>`pragma quick_check`.execute(database.queries);
    if (check.rows[0]?.quick_check !== 'ok') {
      return wrong('the database is damaged', 'Restore a backup with `flowright restore FILE`.');
    }
  }
  return good(`${database.dialect} database with schema ${schema}`);
}

async function identity(database: Database, { config }: Settings): Promise<Finding> {
  if (config.identity === null) {
    return {
      state: 'warning',
      what: 'no identity is configured: commands see personal flows only',
      fix: 'Add `identity: local` to config.yaml.',
    };
  }
  const principals = new Principals({ database, freshness: createFreshness(database), clock: systemClock });
  try {
    const me = await principals.local({
      identity: config.identity,
      vaultId: config.vault,
      narrowTo: null,
      agent: false,
    });
    return good(`commands act as ${me.user_id}, ${me.role} of vault ${me.vault_id}`);
  } catch {
    return wrong(
      `${config.identity} is not a member of vault ${config.vault}`,
      'Set `identity` and `vault` in config.yaml to a member and its vault.',
    );
  }
}

async function auditChain(database: Database, { config }: Settings): Promise<Finding> {
  const { broken_at, entries } = await new AuditLog(database, systemClock).verify(config.vault);
  if (broken_at === null) return good(`the audit log of ${config.vault} is sound (${entries} lines)`);
  return wrong(
    `the audit log of ${config.vault} is broken at line ${broken_at}`,
    'Somebody changed it outside Flowright: compare with a backup.',
  );
}

function good(what: string): Finding {
  return { state: 'good', what };
}

function wrong(what: string, fix: string): Finding {
  return { state: 'wrong', what, fix };
}
