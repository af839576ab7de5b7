import * as z from 'zod';
import { diffFlows, diffLines, serverNamed } from '../flowise/index.ts';
import { refusal } from '../kernel/errors.ts';
import { type Context, defineOperation, pageInput, pageOutput, plainText } from '../operations/index.ts';
import { chatflowOn } from './chatflow-on.ts';
import type { ChatflowNeeds } from './needs.ts';
import { ChatflowId, FlowDiffRecord, ServerName, VersionRecord, versionRecord } from './record.ts';
import { diffCard, historyTable } from './render.ts';
import { SERVER_ERRORS } from './server-errors.ts';
import { type FlowState, readState, stateOf } from './states.ts';
import { findVersion, listVersions } from './versions.ts';

const tag = 'Chatflows';

const Side = plainText(64).min(1);

const diff = defineOperation({
  name: 'chatflow.diff',
  summary: 'Show how a chatflow changed',
  description: 'Compares two versions, or a version with what the server holds now: nodes, parameters, connections.',
  input: z.strictObject({
    server: ServerName,
    chatflow_id: ChatflowId,
    from: Side.optional().describe('Number or label of a version, or live; the newest version when left out'),
    to: Side.default('live').describe('The same; live when left out'),
  }),
  output: z
    .strictObject({
      server: z.string(),
      chatflow_id: z.string(),
      from: z.string(),
      to: z.string(),
      diff: FlowDiffRecord,
      diff_summary: z.string(),
    })
    .meta({ id: 'ChatflowDifference' }),
  access: { can: 'read' },
  effect: 'read',
  reaches: 'elsewhere',
  http: { method: 'GET', path: '/api/v1/chatflows/{chatflow_id}/diff', tag },
  mcp: { tool: 'chatflow_diff' },
  cli: {
    command: 'chatflow diff <chatflow_id>',
    examples: ['flowright chatflow diff ID', 'flowright chatflow diff ID --from 1 --to 3'],
    render: (payload) => diffCard(payload, false),
    renderInColour: (payload) => diffCard(payload, true),
  },
  errors: [...SERVER_ERRORS, 'FLOWISE_NOT_FOUND'],
  digest: ({ diff_summary }) => diff_summary,
  handle: async (context: Context<ChatflowNeeds>, { server, chatflow_id, from, to }) => {
    const { vault_id } = context.principal;
    const { name: serverName } = await serverNamed(context.flowise, vault_id, server);
    const place = { vault_id, server: serverName, chatflow_id };
    const side = async (wanted: string): Promise<{ name: string; state: FlowState }> => {
      if (wanted === 'live') {
        const client = await context.flowise.client(vault_id, serverName);
        return { name: 'live', state: stateOf((await chatflowOn(client, chatflow_id)).flowData) };
      }
      const row = await findVersion(context.database.queries, place, wanted);
      const states = { vault_id: place.vault_id, key: context.sealingKey() };
      const state = row.flow_hash === null ? null : await readState(context.database.queries, states, row.flow_hash);
      return { name: String(row.version), state: state ?? stateOf('{"nodes":[],"edges":[]}') };
    };
    const newest = await newestNumber(context, place);
    const [before, after] = [await side(from ?? newest), await side(to)];
    const difference = diffFlows(before.state.flow, after.state.flow);
    return {
      server: serverName,
      chatflow_id,
      from: before.name,
      to: after.name,
      diff: difference,
      diff_summary: diffLines(difference).join('\n'),
    };
  },
});

async function newestNumber(
  { database }: Context<ChatflowNeeds>,
  place: { vault_id: string; server: string; chatflow_id: string },
): Promise<string> {
  const { rows } = await listVersions(database.queries, place, { limit: 1, offset: 0 });
  const [newest] = rows;
  if (newest) return String(newest.version);
  throw refusal(
    'NOT_FOUND',
    `Chatflow ${place.chatflow_id} has no versions here yet. \`flowright chatflow sync\` records the first.`,
  );
}

const history = defineOperation({
  name: 'chatflow.history',
  summary: 'List the versions of a chatflow',
  description: 'Newest first: our writes, what was there before them, and edits found on the server by chatflow.sync.',
  input: z.strictObject({ server: ServerName, chatflow_id: ChatflowId, ...pageInput }),
  output: z
    .strictObject({ server: z.string(), chatflow_id: z.string(), ...pageOutput, items: z.array(VersionRecord) })
    .meta({ id: 'ChatflowHistory' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/chatflows/{chatflow_id}/history', tag },
  mcp: { tool: 'chatflow_history' },
  cli: { command: 'chatflow history <chatflow_id>', examples: ['flowright chatflow history ID'], render: historyTable },
  errors: ['FLOWISE_SERVER_UNKNOWN', 'SEALED_ELSEWHERE'],
  handle: async ({ flowise, database, principal }: Context<ChatflowNeeds>, { server, chatflow_id, limit, offset }) => {
    const { vault_id } = principal;
    const { name } = await serverNamed(flowise, vault_id, server);
    const place = { vault_id, server: name, chatflow_id };
    const { rows, total } = await listVersions(database.queries, place, { limit, offset });
    const items = rows.map(versionRecord);
    return { server: name, chatflow_id, count: items.length, total_count: total, limit, offset, items };
  },
});

export const historyOperations = [diff, history];
