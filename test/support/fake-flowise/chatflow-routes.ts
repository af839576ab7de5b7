import { json, Refusal } from './answers.ts';
import { validate } from './flow-checks.ts';
import { listed, removed } from './keeping-routes.ts';
import type { Call, Route, World } from './route.ts';
import { CHATFLOW_FIELDS, type ChatflowRow } from './rows.ts';

const TYPES = ['CHATFLOW', 'AGENTFLOW', 'MULTIAGENT', 'ASSISTANT'];
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const chatflowRoutes: readonly Route[] = [
  {
    method: 'GET',
    pattern: '/chatflows',
    access: ['chatflows:view', 'agentflows:view'],
    handle: ({ query }, world) => {
      // An unknown type is no filter.
      const type = TYPES.find((each) => each === query.get('type')) ?? null;
      // Newest first; what was saved within one second stays in the order of the table.
      const rows = [...world.rows.chatflows.values()]
        .filter((row) => type === null || row.type === type || (type === 'CHATFLOW' && row.type === null))
        .sort((a, b) => (a.updatedDate < b.updatedDate ? 1 : a.updatedDate > b.updatedDate ? -1 : 0));
      return listed(
        rows.map((row) => entity(row, world)),
        query,
      );
    },
  },
  {
    method: 'GET',
    pattern: '/chatflows/:id',
    access: ['chatflows:view', 'chatflows:update', 'agentflows:view'],
    handle: ({ params }, world) => json(entity(existing(params.id, world), world)),
  },
  {
    method: 'POST',
    pattern: '/chatflows',
    access: ['chatflows:create', 'agentflows:create'],
    handle: create,
  },
  {
    method: 'PUT',
    pattern: '/chatflows/:id',
    access: ['chatflows:update', 'agentflows:update'],
    handle: update,
  },
  {
    method: 'DELETE',
    pattern: '/chatflows/:id',
    access: ['chatflows:delete', 'agentflows:delete'],
    handle: ({ params }, { rows }) => {
      const id = params.id ?? '';
      if (!rows.chatflows.has(id)) {
        const why = UUID.test(id) ? `Chatflow ${id} not found in the database!` : 'Invalid Chatflow ID';
        throw new Refusal(500, `Error: chatflowsService.deleteChatflow - ${why}`);
      }
      return removed(rows.chatflows.delete(id));
    },
  },
  {
    method: 'GET',
    pattern: '/validation/:id',
    access: null,
    handle: ({ params }, { rows }) => {
      const row = rows.chatflows.get(params.id ?? '');
      if (row) return json(validate(row.flowData));
      const where = 'Error: validationService.checkFlowValidation';
      throw new Refusal(500, `${where} - ${where} - flow not found!`);
    },
  },
];

/** The fields that version 2 does not have are left out there. */
function entity(row: ChatflowRow, { version, rows }: World): Record<string, unknown> {
  const { textToSpeech, createdDate, updatedDate, ...rest } = row;
  if (version === '2.2.8') return { ...rest, createdDate, updatedDate };
  return {
    ...rest,
    textToSpeech,
    createdDate,
    updatedDate,
    mcpServerConfig: null,
    webhookSecretConfigured: false,
    workspaceId: rows.workspaceId,
  };
}

export function existing(id: string | undefined, { rows, version }: World): ChatflowRow {
  if (!UUID.test(id ?? '') && version === '3.1.4') throw new Refusal(400, 'Invalid Chatflow ID');
  const row = rows.chatflows.get(id ?? '');
  if (row) return row;
  if (version === '3.1.4') throw new Refusal(404, `Chatflow ${id} not found in the database!`);
  throw new Refusal(500, `Error: chatflowsService.getChatflowById - Chatflow ${id} not found in the database!`);
}

/** Whoever creates learns of some faults only after the row was stored. */
function create({ body }: Call, world: World) {
  checkType(body, world, true);
  const flow = readable(body.flowData);
  if (body.name === undefined || body.name === null) {
    throw new Refusal(500, 'SQLITE_CONSTRAINT: NOT NULL constraint failed: chat_flow.name');
  }
  const fields = { type: null, ...fieldsOf(body), name: String(body.name), flowData: String(body.flowData) };
  const row = world.rows.addChatflow(fields);
  if (!Array.isArray(flow.edges)) throw new Refusal(500, "Cannot read properties of undefined (reading 'map')");
  return json(withSecret(entity(row, world), world));
}

function update({ params, body }: Call, world: World) {
  const row = existing(params.id, world);
  checkType(body, world, false);
  if (body.flowData !== undefined) readable(body.flowData);
  const fields = fieldsOf(body);
  const differs = Object.entries(fields).some(([field, value]) => row[field as keyof ChatflowRow] !== value);
  // Where nothing differs nothing is stored, the time of the last change included.
  if (!differs) return json(entity(row, world));
  Object.assign(row, fields, { updatedDate: world.rows.time() });
  return json(withSecret(entity(row, world), world));
}

function withSecret(stored: Record<string, unknown>, { version }: World): Record<string, unknown> {
  return version === '3.1.4' ? { ...stored, webhookSecret: null } : stored;
}

function checkType(body: Record<string, unknown>, { version }: World, required: boolean): void {
  if (version === '2.2.8' || (!required && body.type === undefined)) return;
  if (!TYPES.includes(String(body.type))) throw new Refusal(400, 'Invalid Chatflow Type');
}

function fieldsOf(body: Record<string, unknown>): Partial<ChatflowRow> {
  return Object.fromEntries(
    CHATFLOW_FIELDS.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]),
  );
}

interface StoredFlow {
  nodes: { data: Record<string, unknown> }[];
  edges?: unknown;
}

/** Refuses what the real server trips over, in the words of its engine. */
function readable(flowData: unknown): StoredFlow {
  const flow = JSON.parse(flowData as string) as StoredFlow | null;
  if (flow === null) throw new Refusal(500, "Cannot read properties of null (reading 'nodes')");
  if (!Array.isArray(flow.nodes)) throw new Refusal(500, 'nodes is not iterable');
  if (flow.nodes.some((node) => !node?.data)) {
    throw new Refusal(500, "Cannot read properties of undefined (reading 'category')");
  }
  return flow;
}
