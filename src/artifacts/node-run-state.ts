import type { FlowchartRunNodesTable, Queries } from '../database/index.ts';

type Json = Record<string, unknown>;
export type NodeRunRow = Omit<FlowchartRunNodesTable, 'id'> & { id: number };

/** What a node run left: its own output, or that of the node run it was taken from. */
export interface NodeRunState {
  output_state: Json | null;
  routing_state: Json | null;
}

/** A replay of a replay of a replay still ends somewhere. */
const MAX_HOPS = 16;
/** Below the number of parameters that either engine takes. */
const CHUNK = 500;

export async function inChunks<T>(
  ids: readonly number[],
  read: (chunk: readonly number[]) => Promise<T[]>,
): Promise<T[]> {
  const all: T[] = [];
  for (let at = 0; at < ids.length; at += CHUNK) all.push(...(await read(ids.slice(at, at + CHUNK))));
  return all;
}

export function readNodeRuns(queries: Queries, ids: Iterable<number>): Promise<NodeRunRow[]> {
  return inChunks([...new Set(ids)], (chunk) =>
    queries.selectFrom('flowchart_run_nodes').selectAll().where('id', 'in', chunk).execute(),
  );
}

type Stored = Pick<NodeRunRow, 'id' | 'reused_from_id' | 'output_state_json' | 'routing_state_json'>;

/** Output and routing of each node run, followed to where a replay took them from. */
export async function readStates(queries: Queries, rows: readonly Stored[]): Promise<Map<number, NodeRunState>> {
  const states = new Map<number, NodeRunState>();
  // The node run whose state is asked for, and where the search for it has got to.
  let open = rows.map((row) => ({ id: row.id, at: row as Stored }));
  for (let hop = 0; open.length > 0 && hop < MAX_HOPS; hop += 1) {
    const further: { id: number; from: number }[] = [];
    for (const { id, at } of open) {
      if (at.output_state_json === null && at.reused_from_id !== null) further.push({ id, from: at.reused_from_id });
      else states.set(id, stateOf(at));
    }
    const found = new Map(
      (
        await readNodeRuns(
          queries,
          further.map(({ from }) => from),
        )
      ).map((row) => [row.id, row]),
    );
    open = further.flatMap(({ id, from }) => {
      const at = found.get(from);
      return at ? [{ id, at }] : [];
    });
  }
  return states;
}

function stateOf(row: Stored): NodeRunState {
  return { output_state: parseObject(row.output_state_json), routing_state: parseObject(row.routing_state_json) };
}

export function parseObject(text: string | null): Json | null {
  if (text === null) return null;
  const value: unknown = JSON.parse(text);
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : null;
}
