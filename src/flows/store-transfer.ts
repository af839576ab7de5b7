import type { Database, Queries, Trx } from '../database/index.ts';
import { bumpRevision } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import { newId, VAULT_ID_RE } from '../kernel/ids.ts';
import { inertLine } from '../kernel/terminal.ts';
import type { Flow, FlowBundle, FlowStep } from './flow-schema.ts';
import { addVersion, flowsTopic, versionSha256 } from './flow-store.ts';
import { flowContentSha256 } from './state-id.ts';
import { type FlowStoreFile, RECORD_KINDS, type VaultFlowStore } from './store-file.ts';
import { asLoose, type Loose, StoredSteps } from './stored-steps.ts';
import { validateFlowBundle, verdictReason } from './validate.ts';

export interface Quarantined {
  vault_id: string;
  kind: string;
  id: string;
  reason: string;
}

export interface ImportReport {
  vaults: number;
  flows: number;
  already_there: number;
  records: number;
  quarantined: Quarantined[];
}

interface ImportNeeds {
  dialect: Database['dialect'];
  clock: Clock;
  ensureVault(trx: Trx, vaultId: string): Promise<unknown>;
}

/**
 * Takes a store file into the library, inside the caller's transaction. Flows pass the same strict judge as any other;
 * what fails is kept in quarantine with the reason. Runs, candidates and projections are kept verbatim.
 */
export async function importFlowStore(trx: Trx, needs: ImportNeeds, file: FlowStoreFile): Promise<ImportReport> {
  const report: ImportReport = { vaults: 0, flows: 0, already_there: 0, records: 0, quarantined: [] };
  for (const [vaultId, vault] of Object.entries(file.vaults)) {
    const quarantine = quarantineOf(trx, needs.clock, vaultId, report);
    if (!VAULT_ID_RE.test(vaultId)) {
      await quarantine('vault', vaultId.slice(0, 64), 'the vault id is not a valid one', vault);
      continue;
    }
    await needs.ensureVault(trx, vaultId);
    report.vaults += 1;
    const steps = new StoredSteps(vault.steps);
    for (const flow of vault.flows) {
      const bundle = steps.bundleOf(asLoose(flow));
      const outcome = await importBundle(trx, needs, vaultId, bundle);
      if (outcome === 'added') report.flows += 1;
      else if (outcome === 'already there') report.already_there += 1;
      else await quarantine('flows', textOf(bundle.flow.flow_id), outcome.reason, bundle);
    }
    for (const kind of RECORD_KINDS) {
      const sound: unknown[] = [];
      for (const record of vault[kind]) {
        const fault = kind === 'runs' ? await steps.runFault(trx, vaultId, asLoose(record)) : null;
        if (fault) await quarantine(kind, textOf(asLoose(record).run_id), fault, record);
        else sound.push(record);
      }
      report.records += await keepRecords(trx, vaultId, kind, sound);
    }
    await bumpRevision(trx, flowsTopic(vaultId));
  }
  return report;
}

async function importBundle(
  trx: Trx,
  needs: ImportNeeds,
  vaultId: string,
  candidate: { flow: Loose; steps: Loose[] },
): Promise<'added' | 'already there' | { reason: string }> {
  const verdict = validateFlowBundle(candidate);
  if (!verdict.ok) return { reason: verdictReason(verdict.issues) };
  const { flow, steps }: FlowBundle = verdict.bundle;
  if (await addVersion(trx, needs.dialect, needs.clock, vaultId, verdict.bundle)) return 'added';
  const isSame = (await versionSha256(trx, vaultId, flow)) === flowContentSha256(flow, steps);
  return isSame ? 'already there' : { reason: `the library has another content under version ${flow.version}` };
}

/** Puts a record aside. A reason quotes what it found, and what it found may hold anything. */
function quarantineOf(trx: Trx, clock: Clock, vault: string, report: ImportReport) {
  const vault_id = inertLine(vault.slice(0, 64));
  return async (kind: string, id: string, text: string, record: unknown): Promise<void> => {
    const reason = inertLine(text);
    report.quarantined.push({ vault_id, kind, id: inertLine(id), reason });
    await trx
      .insertInto('flow_quarantine')
      .values({
        quarantine_id: newId('quar'),
        vault_id,
        kind,
        reason,
        record_json: JSON.stringify(record),
        created_at: isoNow(clock),
      })
      .execute();
  };
}

/** Adds the records that are not held yet. A record that stands twice in the file is held twice. */
async function keepRecords(
  trx: Trx,
  vaultId: string,
  kind: (typeof RECORD_KINDS)[number],
  records: unknown[],
): Promise<number> {
  const rows = await trx
    .selectFrom('flow_records')
    .select(['position', 'record_json'])
    .where('vault_id', '=', vaultId)
    .where('kind', '=', kind)
    .execute();
  const held = new Map<string, number>();
  for (const { record_json } of rows) held.set(record_json, (held.get(record_json) ?? 0) + 1);
  let position = rows.reduce((highest, row) => Math.max(highest, row.position), 0);
  let added = 0;
  for (const record of records) {
    const record_json = JSON.stringify(record);
    const copies = held.get(record_json) ?? 0;
    if (copies > 0) {
      held.set(record_json, copies - 1);
      continue;
    }
    position += 1;
    added += 1;
    await trx.insertInto('flow_records').values({ vault_id: vaultId, kind, position, record_json }).execute();
  }
  return added;
}

/** The library as a store file: every version, and the kept records as they came. */
export async function exportFlowStore(queries: Queries): Promise<FlowStoreFile> {
  const store: FlowStoreFile = { vaults: {} };
  const vaults = await queries.selectFrom('vaults').select('vault_id').orderBy('vault_id').execute();
  for (const { vault_id } of vaults) store.vaults[vault_id] = await exportVault(queries, vault_id);
  return store;
}

async function exportVault(queries: Queries, vaultId: string): Promise<VaultFlowStore> {
  const versions = await queries
    .selectFrom('flow_versions')
    .select('flow_json')
    .where('vault_id', '=', vaultId)
    .orderBy('flow_id')
    .orderBy('version')
    .execute();
  const steps = await queries
    .selectFrom('flow_steps')
    .select(['version', 'step_json'])
    .where('vault_id', '=', vaultId)
    .orderBy('flow_id')
    .orderBy('version')
    .orderBy('ordinal')
    .execute();
  const records = await queries
    .selectFrom('flow_records')
    .select(['kind', 'record_json'])
    .where('vault_id', '=', vaultId)
    .orderBy('position')
    .execute();
  const vault: VaultFlowStore = {
    flows: versions.map(({ flow_json }) => JSON.parse(flow_json) as Flow),
    steps: steps.map(({ version, step_json }) => ({ ...(JSON.parse(step_json) as FlowStep), flow_version: version })),
    runs: [],
    candidates: [],
    projections: [],
  };
  for (const { kind, record_json } of records) vault[kind].push(JSON.parse(record_json));
  return vault;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 128) : '(no id)';
}
