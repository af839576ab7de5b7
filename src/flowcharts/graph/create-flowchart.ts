import type { DialectName, Trx } from '../../database/index.ts';
import { type Clock, isoNow } from '../../kernel/clock.ts';
import type { Principal } from '../../operations/index.ts';
import { nodeTypes } from '../nodes/registry.ts';
import type { GraphDraft } from './draft.ts';
import { addFlowchart, findFlowchart } from './flowchart-store.ts';
import { type Saved, saveGraph } from './save-graph.ts';
import type { Flowchart, FlowchartSettings } from './wire.ts';

/** A new flowchart is not empty: a run can enter it. */
export const FIRST_DRAFT: GraphDraft = {
  nodes: [
    {
      id: null,
      client_id: null,
      node_type: 'start',
      title: 'Start',
      ref_id: null,
      x: 280,
      y: 170,
      config: {},
      mcp_server_ids: [],
      attachment_ids: [],
    },
  ],
  edges: [],
};

/** A flowchart and the first version of its graph. */
export async function createFlowchart(
  trx: Trx,
  request: {
    vault_id: string;
    settings: FlowchartSettings;
    draft: GraphDraft;
    clock: Clock;
    dialect: DialectName;
    created_by: string;
    created_as: Principal['kind'];
  },
): Promise<{ flowchart: Flowchart; saved: Saved }> {
  const { vault_id, settings, draft, clock, dialect, created_by, created_as } = request;
  const made = await addFlowchart(trx, { vault_id, settings, now: isoNow(clock) });
  const flowchart = { id: made.id, vault_id, graph_version: made.graph_version };
  const by = { saved_by: created_by, saved_as: created_as };
  const saved = await saveGraph(trx, { flowchart, draft, types: nodeTypes, clock, dialect, ...by });
  return { flowchart: await findFlowchart(trx, vault_id, made.id), saved };
}
