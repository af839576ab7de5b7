import {
  type ApiCredential,
  type ApiTool,
  type Chatflow,
  diffFlows,
  diffLines,
  type FlowData,
  type FlowiseClient,
  flowHash,
  type NewTool,
  toolPlaceholder,
  validateFlow,
} from '../flowise/index.ts';
import { badRequest, type Issue, refusal } from '../kernel/errors.ts';
import type { KnowledgeSession } from '../knowledge/index.ts';
import { carriedFields, settingsOf, typeOf } from './carried-fields.ts';
import { chatflowOn } from './chatflow-on.ts';
import { credentialsIn, withCredentials } from './credential-places.ts';
import type { ChatflowNeeds } from './needs.ts';
import { assertSound, unsound } from './sound.ts';
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
  const credentials = await mapCredentials(from, to, flow, request.credentials);
  const tools = await mapTools(from, to, credentials.flow);
  const toolRefs = tools.created.map(({ tool_ref }) => tool_ref);
  // What does not work at the source is no reason to refuse; it is told.
  const { errors, warnings } = validateFlow(tools.flow, { schemas: session.nodes, toolRefs, before: flow });
  assertSound(errors, `It would not work on ${to.server}`);
  const { flowright: _, ...unstamped } = tools.flow;
  const flow_data_str = JSON.stringify(unstamped);
  const payload_hash = flowHash(flow_data_str);
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
    name,
    approved_hash: payload_hash,
    rebased: false,
    diff_summary: diffLines(diffFlows(target ? stateOf(target.flowData).flow : NO_FLOW, tools.flow)).join('\n'),
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
    throw refusal(
      'chatflow_conflict',
      `Chatflow ${target.id} on ${to.server} was changed since. Nothing was written.`,
      {
        base_hash,
        current_hash,
      },
    );
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

interface Fitted {
  flow: FlowData;
  notes: string[];
}

/** By the given map, else by type and name, else the only one of the type; where several fit, it asks. */
async function mapCredentials(
  from: FlowiseClient,
  to: FlowiseClient,
  flow: FlowData,
  given: Record<string, string>,
): Promise<Fitted> {
  const used = credentialsIn(flow);
  if (used.size === 0) return { flow, notes: [] };
  const [here, there] = [await from.listCredentials(), await to.listCredentials()];
  const map = new Map<string, ApiCredential>();
  for (const id of used) {
    const source = here.find((credential) => credential.id === id);
    const wanted = chosen(given, id) ?? (source && chosen(given, source.name));
    if (!source && wanted === undefined) continue;
    map.set(id, counterpart(source, there, wanted, to.server, id));
  }
  return {
    flow: withCredentials(flow, (id) => map.get(id)?.id ?? ''),
    notes: [...used].map((id) => credentialNote(id, here, map.get(id))),
  };
}

/** Names come from a server: `constructor` is one like any other. */
function chosen(given: Record<string, string>, name: string): string | undefined {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}

function counterpart(
  source: ApiCredential | undefined,
  there: ApiCredential[],
  wanted: string | undefined,
  server: string,
  id: string,
): ApiCredential {
  const ofType = there.filter(({ credentialName }) => source === undefined || credentialName === source.credentialName);
  const fitting =
    wanted === undefined
      ? bestFit(ofType, source)
      : ofType.filter((credential) => credential.id === wanted || credential.name === wanted);
  const [only, ...more] = fitting;
  if (only && more.length === 0) return only;
  const what = source ? `"${source.name}" (${source.credentialName})` : id;
  if (only) {
    throw refusal(
      'CREDENTIAL_AMBIGUOUS',
      `Several credentials of ${server} fit ${what}. Name one with --credentials.`,
      {
        wanted: source?.name ?? id,
        choices: fitting.map((choice) => ({
          credential_id: choice.id,
          name: choice.name,
          type: choice.credentialName,
        })),
      },
    );
  }
  const issue = {
    code: 'unknown_credential',
    message: `${server} has no credential for ${what}; create one there, or name another with --credentials`,
    path: `/credentials/${id}`,
  };
  throw unsound([issue], 'The promotion was refused');
}

function bestFit(ofType: ApiCredential[], source: ApiCredential | undefined): ApiCredential[] {
  const sameName = ofType.filter(({ name }) => name === source?.name);
  return sameName.length > 0 ? sameName : ofType;
}

function credentialNote(id: string, here: ApiCredential[], target: ApiCredential | undefined): string {
  const source = here.find((credential) => credential.id === id);
  if (!target) return `Credential ${id} no longer exists at the source: the node is left without one.`;
  return `Credential "${source?.name ?? id}" became "${target.name}".`;
}

/** A custom tool is stored beside the flow: by name it is found there, else it is stored there first. */
async function mapTools(
  from: FlowiseClient,
  to: FlowiseClient,
  flow: FlowData,
): Promise<Fitted & { created: { tool_ref: string; tool: NewTool }[] }> {
  const used = flow.nodes.filter(({ data }) => data?.name === 'customTool' && isText(data.inputs?.selectedTool));
  if (used.length === 0) return { flow, notes: [], created: [] };
  const [here, there] = [await from.listTools(), await to.listTools()];
  const ids = new Map<string, string>();
  const created: { tool_ref: string; tool: NewTool }[] = [];
  for (const id of new Set(used.map(({ data }) => String(data.inputs.selectedTool)))) {
    const tool = here.find((candidate) => candidate.id === id);
    if (!tool) continue;
    const known = there.find(({ name }) => name === tool.name);
    if (known) ids.set(id, known.id);
    else {
      const tool_ref = `tool_${created.length}`;
      created.push({ tool_ref, tool: bareTool(tool) });
      ids.set(id, toolPlaceholder(tool_ref));
    }
  }
  const nodes = flow.nodes.map((node) => {
    const id = ids.get(String(node.data?.inputs?.selectedTool ?? ''));
    if (id === undefined || node.data.name !== 'customTool') return node;
    return { ...node, data: { ...node.data, inputs: { ...node.data.inputs, selectedTool: id } } };
  });
  return {
    flow: { ...flow, nodes },
    notes: created.map(({ tool }) => `Tool "${tool.name}" is stored there too.`),
    created,
  };
}

function bareTool({ name, description, color, iconSrc, schema, func }: ApiTool): NewTool {
  return { name, description, color, ...(iconSrc ? { iconSrc } : {}), schema, func };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
