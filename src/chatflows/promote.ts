import {
  type Chatflow,
  diffFlows,
  diffLines,
  type FlowData,
  type FlowiseClient,
  flowHash,
  payloadHash,
  validateFlow,
} from '../flowise/index.ts';
import { badRequest, type Issue, refusal } from '../kernel/errors.ts';
import type { KnowledgeSession } from '../knowledge/index.ts';
import { bodyLines, wholeSummary } from './body-lines.ts';
import { carriedFields, settingsOf, typeOf } from './carried-fields.ts';
import { chatflowOn } from './chatflow-on.ts';
import { conflict } from './conflict.ts';
import { fitCredentials } from './fitted-credentials.ts';
import { fitTools } from './fitted-tools.ts';
import type { ChatflowNeeds } from './needs.ts';
import { assertSound } from './sound.ts';
import { NO_FLOW, stateOf } from './states.ts';
import type { PlannedWrite } from './written.ts';

export interface PromotionRequest {
  server?: string | undefined;
  chatflow_id: string;
  to_server: string;
  target_id?: string | undefined;
  name?: string | undefined;
  credentials: Record<string, string>;
  base_hash?: string | undefined;
  message: string;
  idempotency_key?: string | undefined;
}

type Needs = Pick<ChatflowNeeds, 'flowise' | 'knowledge'>;

/** The chatflow as it is here, fitted to the other server: its credentials, its tools, the node types it knows. */
export async function planPromotion(needs: Needs, vaultId: string, request: PromotionRequest): Promise<PlannedWrite> {
  const from = await needs.flowise.client(vaultId, request.server);
  const to = await needs.flowise.client(vaultId, request.to_server);
  if (from.url === to.url && request.target_id === request.chatflow_id) {
    throw badRequest([{ code: 'same_chatflow', message: 'is the chatflow itself', path: '/target_id' }]);
  }
  const source = await chatflowOn(from, request.chatflow_id);
  const name = request.name ?? source.name;
  const target = request.target_id === undefined ? null : await chatflowOn(to, request.target_id);
  await assertTarget(to, target, name, request);
  const { flow } = stateOf(source.flowData);
  const session = await needs.knowledge.session(vaultId, to.server);
  await assertNodesKnown(session, to, flow);
  const credentials = await fitCredentials(from, to, flow, request.credentials);
  const tools = await fitTools(from, to, credentials.flow);
  const toolRefs = tools.created.map(({ tool_ref }) => tool_ref);
  // What does not work at the source is no reason to refuse; it is told.
  const { errors, warnings } = validateFlow(tools.flow, { schemas: session.nodes, toolRefs, before: flow });
  assertSound(errors, `It would not work on ${to.server}`);
  const { flowright: _, ...unstamped } = tools.flow;
  const flow_data_str = JSON.stringify(unstamped);
  const payload_hash = payloadHash(flow_data_str, tools.created);
  return {
    client: to,
    plan: {
      origin: 'promote',
      flow_data_str,
      payload_hash,
      base_hash: target && flowHash(target.flowData),
      chatflow_id: target?.id ?? null,
      body: target ? { name, ...settingsOf(source) } : newBody(source, name),
      tools: tools.created,
      message: request.message === '' ? `from ${from.server}, chatflow ${source.id}` : request.message,
      idempotency_key: request.idempotency_key ?? null,
    },
    name: target?.name ?? name,
    approved_hash: payload_hash,
    rebased: false,
    diff_summary: wholeSummary(
      bodyLines(target, { name }),
      diffLines(diffFlows(target ? stateOf(target.flowData).flow : NO_FLOW, tools.flow)).join('\n'),
    ),
    warnings,
    notes: [...credentials.notes, ...tools.notes],
  };
}

/** What is public or live here is not so elsewhere until somebody says so there. */
function newBody(source: Chatflow, name: string) {
  const { category = null } = carriedFields(source);
  return { name, type: typeOf(source), category, ...settingsOf(source), deployed: false, isPublic: false };
}

async function assertTarget(
  to: FlowiseClient,
  target: Chatflow | null,
  name: string,
  { base_hash }: PromotionRequest,
): Promise<void> {
  if (target) {
    const current_hash = flowHash(target.flowData);
    if (base_hash === undefined || base_hash === current_hash) return;
    throw conflict(target.id, base_hash, current_hash);
  }
  const namesake = (await to.listChatflows()).find((chatflow) => chatflow.name === name);
  if (!namesake) return;
  throw refusal(
    'CONFLICT',
    `${to.server} has a chatflow of that name. Replace it with --target-id ${namesake.id}, or choose another --name.`,
    { chatflow_id: namesake.id },
  );
}

async function assertNodesKnown(session: KnowledgeSession, to: FlowiseClient, flow: FlowData): Promise<void> {
  const issues: Issue[] = [];
  const asked = new Set<string>();
  for (const [at, { type, data }] of flow.nodes.entries()) {
    if (type === 'stickyNote' || typeof data?.name !== 'string' || asked.has(data.name)) continue;
    asked.add(data.name);
    if (await session.getNodeSchema(data.name)) continue;
    const message = `${to.server} has no node type ${data.name}; bring that server to a newer Flowise`;
    issues.push({ code: 'unknown_node_type', message, path: `/nodes/${at}/data/name` });
  }
  assertSound(issues, `It would not work on ${to.server}`);
}
