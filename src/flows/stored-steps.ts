import type { Queries } from '../database/index.ts';
import { FlowSchema, FlowStepSchema } from './flow-schema.ts';
import { readVersion } from './flow-store.ts';

export type Loose = Record<string, unknown>;

const FLOW_KEYS = Object.keys(FlowSchema.shape);
const STEP_KEYS = Object.keys(FlowStepSchema.shape);

/**
 * The steps of a vault in a store file, found by flow and version. Rows of old files carry no flow_version: they serve
 * every version that lists them and has no rows of its own.
 */
export class StoredSteps {
  readonly #versioned = new Map<string, Loose[]>();
  readonly #unversioned = new Map<string, Loose[]>();
  readonly #required = new Map<string, Promise<Set<unknown>>>();

  constructor(steps: unknown[]) {
    for (const step of steps.map(asLoose)) {
      const isVersioned = step.flow_version !== undefined;
      const key = isVersioned ? versionKey(step.flow_id, step.flow_version) : JSON.stringify([step.flow_id]);
      const index = isVersioned ? this.#versioned : this.#unversioned;
      const known = index.get(key);
      if (known) known.push(step);
      else index.set(key, [step]);
    }
  }

  /** A flow with its steps; keys that the contract does not know are left behind. */
  bundleOf(flow: Loose): { flow: Loose; steps: Loose[] } {
    const listed = new Set(Array.isArray(flow.steps) ? flow.steps : []);
    const steps = this.#of(flow.flow_id, flow.version, listed);
    return { flow: pick(flow, FLOW_KEYS), steps: steps.map((step) => pick(step, STEP_KEYS)) };
  }

  /** A step state `done` without the verification its step requires would claim proof that nobody gave. */
  async runFault(queries: Queries, vaultId: string, run: Loose): Promise<string | null> {
    const { flow_id, flow_version, step_states } = run;
    const unproved = (Array.isArray(step_states) ? step_states.map(asLoose) : []).filter(
      ({ status, verified }) => status === 'done' && verified !== true,
    );
    if (unproved.length === 0) return null;
    const required = await this.#requiredBy(queries, vaultId, flow_id, flow_version);
    const fault = unproved.find(({ step_id }) => required.has(step_id));
    return fault ? `step ${String(fault.step_id)} is done without its required verification` : null;
  }

  #of(flowId: unknown, version: unknown, listed: ReadonlySet<unknown> | null): Loose[] {
    const own = this.#versioned.get(versionKey(flowId, version));
    if (own) return own;
    const shared = this.#unversioned.get(JSON.stringify([flowId])) ?? [];
    return listed ? shared.filter(({ step_id }) => listed.has(step_id)) : shared;
  }

  /** Steps of a version that want evidence, by the file and by the library. */
  #requiredBy(queries: Queries, vaultId: string, flowId: unknown, version: unknown): Promise<Set<unknown>> {
    const key = versionKey(flowId, version);
    let required = this.#required.get(key);
    if (!required) {
      required = this.#readRequired(queries, vaultId, flowId, version);
      this.#required.set(key, required);
    }
    return required;
  }

  async #readRequired(queries: Queries, vaultId: string, flowId: unknown, version: unknown): Promise<Set<unknown>> {
    const isNamed = typeof flowId === 'string' && typeof version === 'string';
    const held = isNamed ? await readVersion(queries, vaultId, flowId, version) : null;
    const steps: Loose[] = [...this.#of(flowId, version, null), ...(held?.steps ?? [])];
    const wanting = steps.filter((step) => asLoose(step.verification).evidence_required === true);
    return new Set(wanting.map(({ step_id }) => step_id));
  }
}

export function asLoose(value: unknown): Loose {
  return value !== null && typeof value === 'object' ? (value as Loose) : {};
}

function versionKey(flowId: unknown, version: unknown): string {
  return JSON.stringify([flowId, version]);
}

function pick(record: Loose, keys: readonly string[]): Loose {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(record, key)).map((key) => [key, record[key]]));
}
