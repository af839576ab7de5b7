import type { Queries } from '../../database/index.ts';

/** What can be listened to. Anything else is refused, never joined. */
const ROOM = /^(flowchart|flowchart_run|flowchart_node):([1-9]\d{0,14})$/;

export interface Room {
  name: string;
  kind: 'flowchart' | 'flowchart_run' | 'flowchart_node';
  id: number;
}

export function parseRoom(name: unknown): Room | null {
  const match = typeof name === 'string' ? ROOM.exec(name) : null;
  if (!match) return null;
  return { name: match[0], kind: match[1] as Room['kind'], id: Number(match[2]) };
}

/** A thing of another vault and one that is not there answer the same. */
export async function isRoomOf(queries: Queries, { kind, id }: Room, vaultId: string): Promise<boolean> {
  const found = await lookUp(queries, kind, id, vaultId);
  return found !== undefined;
}

function lookUp(queries: Queries, kind: Room['kind'], id: number, vaultId: string) {
  if (kind === 'flowchart_node') {
    return queries
      .selectFrom('flowchart_nodes as node')
      .innerJoin('flowcharts as flowchart', 'flowchart.id', 'node.flowchart_id')
      .select('node.id')
      .where('node.id', '=', id)
      .where('flowchart.vault_id', '=', vaultId)
      .executeTakeFirst();
  }
  return queries
    .selectFrom(kind === 'flowchart' ? 'flowcharts' : 'flowchart_runs')
    .select('id')
    .where('id', '=', id)
    .where('vault_id', '=', vaultId)
    .executeTakeFirst();
}
