import { sql } from 'kysely';
import { readStates } from '../../artifacts/index.ts';
import type { Queries } from '../../database/index.ts';
import { stableStringify } from '../../kernel/canonical-json.ts';
import type { RunRow } from './run-record.ts';

/** One execution of one node, in both runs or in one of them. */
export interface ComparedStep {
  flowchart_node_id: number;
  execution_index: number;
  node_type: string;
  node_title: string | null;
  ran_in: 'both' | 'left' | 'right';
  left: StepSide | null;
  right: StepSide | null;
  output: 'equal' | 'different' | null;
  changed_keys: string[];
}

export interface StepSide {
  node_run_id: number;
  sequence: number;
  status: string;
  duration_ms: number | null;
}

export interface Comparison {
  steps: ComparedStep[];
  total: number;
  /** The same executions of the same nodes, activated in the same order. */
  same_path: boolean;
  counts: { both: number; only_left: number; only_right: number; output_equal: number; output_different: number };
}

interface SideRow {
  id: number;
  flowchart_node_id: number;
  execution_index: number;
  node_type: string;
  sequence: number;
  status: string;
  started_at: string;
  finished_at: string | null;
}

const COLUMNS = [
  'id',
  'flowchart_node_id',
  'execution_index',
  'node_type',
  'sequence',
  'status',
  'started_at',
  'finished_at',
] as const;

/**
 * Node runs are aligned by node and execution. The database says which outputs are the same text; only those that are
 * not are read, a page at a time, to say which keys differ.
 */
export async function compareRuns(
  queries: Queries,
  left: RunRow,
  right: RunRow,
  titles: ReadonlyMap<number, string | null>,
  page: { limit: number; offset: number },
): Promise<Comparison> {
  const equal = await pairsOfEqualText(queries, left.id, right.id);
  const one = await sideOf(queries, left.id);
  const other = await sideOf(queries, right.id);
  const steps = align(one, other, titles);
  for (const step of steps) if (step.ran_in === 'both') step.output = equal.has(keyOf(step)) ? 'equal' : 'different';
  await lookCloser(
    queries,
    steps.filter(({ output }) => output === 'different'),
  );
  const count = (test: (step: ComparedStep) => boolean) => steps.filter(test).length;
  return {
    steps: steps.slice(page.offset, page.offset + page.limit),
    total: steps.length,
    same_path: one.map(keyOf).join() === other.map(keyOf).join(),
    counts: {
      both: count(({ ran_in }) => ran_in === 'both'),
      only_left: count(({ ran_in }) => ran_in === 'left'),
      only_right: count(({ ran_in }) => ran_in === 'right'),
      output_equal: count(({ output }) => output === 'equal'),
      output_different: count(({ output }) => output === 'different'),
    },
  };
}

function sideOf(queries: Queries, runId: number): Promise<SideRow[]> {
  return queries
    .selectFrom('flowchart_run_nodes')
    .select(COLUMNS)
    .where('flowchart_run_id', '=', runId)
    .orderBy('sequence')
    .execute();
}

/** In the order of the left run; what only the right run did follows where its predecessor stands. */
export function align(
  left: readonly SideRow[],
  right: readonly SideRow[],
  titles: ReadonlyMap<number, string | null>,
): ComparedStep[] {
  const rightByKey = new Map(right.map((row) => [keyOf(row), row]));
  const leftKeys = new Set(left.map(keyOf));
  const followers = new Map<string, SideRow[]>();
  let predecessor = '';
  for (const row of right) {
    if (leftKeys.has(keyOf(row))) predecessor = keyOf(row);
    else followers.set(predecessor, [...(followers.get(predecessor) ?? []), row]);
  }
  const only = (key: string) => (followers.get(key) ?? []).map((row) => step(null, row, titles));
  return [
    ...only(''),
    ...left.flatMap((row) => [step(row, rightByKey.get(keyOf(row)) ?? null, titles), ...only(keyOf(row))]),
  ];
}

function step(left: SideRow | null, right: SideRow | null, titles: ReadonlyMap<number, string | null>): ComparedStep {
  const row = (left ?? right) as SideRow;
  return {
    flowchart_node_id: row.flowchart_node_id,
    execution_index: row.execution_index,
    node_type: row.node_type,
    node_title: titles.get(row.flowchart_node_id) ?? null,
    ran_in: left && right ? 'both' : left ? 'left' : 'right',
    left: left && side(left),
    right: right && side(right),
    output: null,
    changed_keys: [],
  };
}

function side({ id, sequence, status, started_at, finished_at }: SideRow): StepSide {
  const duration_ms = finished_at === null ? null : Date.parse(finished_at) - Date.parse(started_at);
  return { node_run_id: id, sequence, status, duration_ms };
}

function keyOf(row: { flowchart_node_id: number; execution_index: number }): string {
  return `${row.flowchart_node_id}:${row.execution_index}`;
}

/** A replay takes outputs by reference; they are the text they refer to. */
async function pairsOfEqualText(queries: Queries, left: number, right: number): Promise<Set<string>> {
  const { rows } = await sql<{ flowchart_node_id: number; execution_index: number }>`
    select l.flowchart_node_id, l.execution_index
    from flowchart_run_nodes l
    join flowchart_run_nodes r on r.flowchart_run_id = ${right}
      and r.flowchart_node_id = l.flowchart_node_id and r.execution_index = l.execution_index
    left join flowchart_run_nodes ll on ll.id = l.reused_from_id
    left join flowchart_run_nodes rr on rr.id = r.reused_from_id
    where l.flowchart_run_id = ${left}
      and coalesce(l.output_state_json, ll.output_state_json, '')
        = coalesce(r.output_state_json, rr.output_state_json, '')`.execute(queries);
  return new Set(rows.map(keyOf));
}

const AT_ONCE = 100;

/** The order of keys is no difference; which top-level keys differ is told. */
async function lookCloser(queries: Queries, different: readonly ComparedStep[]): Promise<void> {
  for (let at = 0; at < different.length; at += AT_ONCE) {
    const chunk = different.slice(at, at + AT_ONCE);
    const ids = chunk.flatMap(({ left, right }) => [left?.node_run_id ?? 0, right?.node_run_id ?? 0]);
    const rows = await queries
      .selectFrom('flowchart_run_nodes')
      .select(['id', 'reused_from_id', 'output_state_json', 'routing_state_json'])
      .where('id', 'in', ids)
      .execute();
    const states = await readStates(queries, rows);
    for (const compared of chunk) {
      const one = states.get(compared.left?.node_run_id ?? 0)?.output_state ?? null;
      const other = states.get(compared.right?.node_run_id ?? 0)?.output_state ?? null;
      compared.changed_keys = changedKeys(one ?? {}, other ?? {});
      if (compared.changed_keys.length === 0 && (one === null) === (other === null)) compared.output = 'equal';
    }
  }
}

export function changedKeys(left: Record<string, unknown>, right: Record<string, unknown>): string[] {
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
  return keys.filter((key) => textOf(left, key) !== textOf(right, key));
}

function textOf(state: Record<string, unknown>, key: string): string | undefined {
  return Object.hasOwn(state, key) ? stableStringify(state[key]) : undefined;
}
