import type { Database, Queries, Trx } from '../database/index.ts';
import { bumpRevision } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import { newId, VAULT_ID_RE } from '../kernel/ids.ts';
import { inertLine } from '../kernel/terminal.ts';
import type { Flow, FlowStep } from './flow-schema.ts';
import { FlowSchema, FlowStepSchema } from './flow-schema.ts';
import { addVersion, flowsTopic } from './flow-store.ts';
import { type FlowStoreFile, RECORD_KINDS, type VaultFlowStore } from './store-file.ts';
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

type Loose = Record<string, unknown>;

const FLOW_KEYS = Object.keys(FlowSchema.shape);
const STEP_KEYS = Object.keys(FlowStepSchema.shape);

/**
 * Takes a store file into the library, inside the caller's transaction. Flows pass the same strict judge as any other;
 * what fails is kept in quarantine with the reason. Runs, candidates and projections are kept verbatim.
 */
export async function importFlowStore(
  trx: Trx,
  needs: { dialect: Database['dialect']; clock: Clock; ensureVault(trx: Trx, vaultId: string): Promise<void> },
  file: FlowStoreFile,
): Promise<ImportReport> {
  const report: ImportReport = { vaults: 0, flows: 0, already_there: 0, records: 0, quarantined: [] };
  const quarantine = async (vaultId: string, kind: string, id: string, reason: string, record: unknown) => {
    // A reason quotes what it found; what it found may hold anything.
    report.quarantined.push({ vault_id: inertLine(vaultId), kind, id: inertLine(id), reason: inertLine(reason) });
    const row = {
      vault_id: inertLine(vaultId),
      kind,
      reason: inertLine(reason),
      record_json: JSON.stringify(record),
      created_at: isoNow(needs.clock),
    };
    await trx
      .insertInto('flow_quarantine')
      .values({ quarantine_id: newId('quar'), ...row })
      .execute();
  };
  for (const [vaultId, vault] of Object.entries(file.vaults)) {
    if (!VAULT_ID_RE.test(vaultId)) {
      await quarantine(vaultId.slice(0, 64), 'vault', vaultId.slice(0, 64), 'the vault id is not a valid one', vault);
      continue;
    }
    await needs.ensureVault(trx, vaultId);
    report.vaults += 1;
    for (const flow of vault.flows) {
      const bundle = bundleOf(flow, vault.steps);
      const verdict = validateFlowBundle(bundle);
      if (!verdict.ok) {
        await quarantine(vaultId, 'flows', textOf(bundle.flow.flow_id), verdictReason(verdict.issues), bundle);
      } else if (await addVersion(trx, needs.dialect, needs.clock, vaultId, verdict.bundle)) {
        report.flows += 1;
      } else {
        report.already_there += 1;
      }
    }
    for (const kind of RECORD_KINDS) {
      const sound: unknown[] = [];
      for (const record of vault[kind]) {
        const fault = kind === 'runs' ? runFault(record, vault) : null;
        if (fault) await quarantine(vaultId, kind, textOf(asLoose(record).run_id), fault, record);
        else sound.push(record);
      }
      report.records += await keepRecords(trx, vaultId, kind, sound);
    }
    await bumpRevision(trx, flowsTopic(vaultId));
  }
  return report;
}

/** The library as a store file: every version, and the kept records as they came. */
export async function exportFlowStore(queries: Queries): Promise<FlowStoreFile> {
  const store: FlowStoreFile = { vaults: {} };
  const vaults = await queries.selectFrom('vaults').select('vault_id').orderBy('vault_id').execute();
  for (const { vault_id } of vaults) {
    const versions = await queries
      .selectFrom('flow_versions')
      .select('flow_json')
      .where('vault_id', '=', vault_id)
      .orderBy('flow_id')
      .orderBy('version')
      .execute();
    const steps = await queries
      .selectFrom('flow_steps')
      .select(['version', 'step_json'])
      .where('vault_id', '=', vault_id)
      .orderBy('flow_id')
      .orderBy('version')
      .orderBy('ordinal')
      .execute();
    const vault: VaultFlowStore = {
      flows: versions.map(({ flow_json }) => JSON.parse(flow_json) as Flow),
      steps: steps.map(({ version, step_json }) => ({ ...(JSON.parse(step_json) as FlowStep), flow_version: version })),
      runs: [],
      candidates: [],
      projections: [],
    };
    const records = await queries
      .selectFrom('flow_records')
      .select(['kind', 'record_json'])
      .where('vault_id', '=', vault_id)
      .orderBy('position')
      .execute();
    for (const { kind, record_json } of records) vault[kind].push(JSON.parse(record_json));
    store.vaults[vault_id] = vault;
  }
  return store;
}

/** A flow with the steps of its version. Old files lack flow_version; then the flow's own list decides. */
function bundleOf(flow: unknown, steps: unknown[]): { flow: Loose; steps: Loose[] } {
  const loose = asLoose(flow);
  const listed = Array.isArray(loose.steps) ? loose.steps : [];
  const own = steps.map(asLoose).filter((step) => {
    if (step.flow_id !== loose.flow_id) return false;
    return step.flow_version === undefined ? listed.includes(step.step_id) : step.flow_version === loose.version;
  });
  return { flow: pick(loose, FLOW_KEYS), steps: own.map((step) => pick(step, STEP_KEYS)) };
}

/** A step state `done` without the verification its step requires would claim proof that nobody gave. */
function runFault(run: unknown, vault: VaultFlowStore): string | null {
  const { step_states, flow_version } = asLoose(run);
  const required = new Set(
    vault.steps
      .map(asLoose)
      .filter((step) => step.flow_version === undefined || step.flow_version === flow_version)
      .filter((step) => asLoose(step.verification).evidence_required === true)
      .map((step) => step.step_id),
  );
  for (const state of Array.isArray(step_states) ? step_states.map(asLoose) : []) {
    if (state.status === 'done' && state.verified !== true && required.has(state.step_id)) {
      return `step ${textOf(state.step_id)} is done without its required verification`;
    }
  }
  return null;
}

async function keepRecords(
  trx: Trx,
  vaultId: string,
  kind: (typeof RECORD_KINDS)[number],
  records: unknown[],
): Promise<number> {
  const held = await trx
    .selectFrom('flow_records')
    .select(['position', 'record_json'])
    .where('vault_id', '=', vaultId)
    .where('kind', '=', kind)
    .execute();
  const known = new Set(held.map(({ record_json }) => record_json));
  let position = held.reduce((highest, row) => Math.max(highest, row.position), 0);
  let added = 0;
  for (const record of records) {
    const record_json = JSON.stringify(record);
    if (known.has(record_json)) continue;
    known.add(record_json);
    position += 1;
    added += 1;
    await trx.insertInto('flow_records').values({ vault_id: vaultId, kind, position, record_json }).execute();
  }
  return added;
}

function pick(record: Loose, keys: readonly string[]): Loose {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(record, key)).map((key) => [key, record[key]]));
}

function asLoose(value: unknown): Loose {
  return value !== null && typeof value === 'object' ? (value as Loose) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 128) : '(no id)';
}
