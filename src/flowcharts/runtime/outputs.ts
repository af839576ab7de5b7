import { type Database, rows } from '../../database/index.ts';

/** What a node run left for those after it. Shared by its readers; nobody changes it. */
export interface Output {
  sequence: number;
  node_run_id: number;
  node_id: number;
  node_type: string;
  execution_index: number;
  output_state: Record<string, unknown>;
  routing_state: Record<string, unknown>;
}

interface OutputRow {
  sequence: number;
  id: number;
  flowchart_node_id: number;
  node_type: string;
  execution_index: number;
  output_state_json: string | null;
  routing_state_json: string | null;
}

/** Enough for what a run reads again soon; the rest is read from the database when it is wanted. */
const KEPT_CHARACTERS = 4_000_000;
const KEPT_OUTPUTS = 2_048;

/** Outputs of one run: the latest are at hand, older ones are fetched. */
export class Outputs {
  readonly #database: Database;
  readonly #runId: number;
  readonly #kept = new Map<number, { output: Output; size: number }>();
  #size = 0;

  constructor(database: Database, runId: number) {
    this.#database = database;
    this.#runId = runId;
  }

  keep(output: Output, size: number): void {
    this.#kept.set(output.sequence, { output, size });
    this.#size += size;
    for (const [oldest, entry] of this.#kept) {
      if (this.#kept.size <= 1 || (this.#kept.size <= KEPT_OUTPUTS && this.#size <= KEPT_CHARACTERS)) return;
      this.#kept.delete(oldest);
      this.#size -= entry.size;
    }
  }

  /** What was kept is not what is stored. */
  forget(sequence: number): void {
    const kept = this.#kept.get(sequence);
    if (!kept) return;
    this.#kept.delete(sequence);
    this.#size -= kept.size;
  }

  /** At once when all are at hand, which they nearly always are. */
  read(sequences: readonly number[]): ReadonlyMap<number, Output> | Promise<ReadonlyMap<number, Output>> {
    const found = new Map<number, Output>();
    const missing: number[] = [];
    for (const sequence of sequences) {
      const kept = this.#kept.get(sequence);
      if (kept) found.set(sequence, kept.output);
      else missing.push(sequence);
    }
    return missing.length === 0 ? found : this.#fetch(missing, found);
  }

  async #fetch(missing: readonly number[], found: Map<number, Output>): Promise<ReadonlyMap<number, Output>> {
    const runId = this.#runId;
    const fetched = await this.#database.script(function* () {
      const all: OutputRow[] = [];
      for (const sequence of missing) all.push(...(yield* rows<OutputRow>(READ_OUTPUT, runId, sequence)));
      return all;
    });
    for (const row of fetched) found.set(row.sequence, outputOf(row));
    return found;
  }
}

/** A replay refers to the node run that was executed; its own row holds no copy. */
const READ_OUTPUT = `select own.sequence, own.id, own.flowchart_node_id, own.node_type, own.execution_index,
  coalesce(origin.output_state_json, own.output_state_json) as output_state_json,
  coalesce(origin.routing_state_json, own.routing_state_json) as routing_state_json
  from flowchart_run_nodes own left join flowchart_run_nodes origin on origin.id = own.reused_from_id
  where own.flowchart_run_id = ? and own.sequence = ?`;

function outputOf(row: OutputRow): Output {
  return {
    sequence: row.sequence,
    node_run_id: row.id,
    node_id: row.flowchart_node_id,
    node_type: row.node_type,
    execution_index: row.execution_index,
    output_state: JSON.parse(row.output_state_json ?? '{}') as Record<string, unknown>,
    routing_state: JSON.parse(row.routing_state_json ?? '{}') as Record<string, unknown>,
  };
}
