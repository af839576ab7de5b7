import { stableStringify } from '../../kernel/canonical-json.ts';
import type { Issue } from '../../kernel/errors.ts';
import { COMMON_KEYS, normaliseCommonConfig } from '../nodes/common-config.ts';
import type { NodeType } from '../nodes/node-type.ts';
import type { DraftNode } from './draft.ts';
import { type Fields, fieldsOf, isObject } from './fields.ts';
import { MAX_BINDINGS, MAX_CLIENT_ID, MAX_CONFIG_BYTES, MAX_TITLE } from './limits.ts';
import { SYSTEM_MCP } from './system-mcp.ts';

type Json = Record<string, unknown>;
export type NodeTypes = ReadonlyMap<string, NodeType>;

/** Types whose artifacts a person keeps an eye on: their retention is always written out. */
const WITH_RETENTION: ReadonlySet<string> = new Set(['memory', 'plan', 'milestone']);
/** What may be sent; the second half comes back from a graph that was read, and is left alone. */
const KNOWN = new Set(
  'id client_id node_type title ref_id x y config config_json mcp_server_ids attachment_ids model_id script_ids skill_ids flowchart_id compatibility created_at updated_at'.split(
    ' ',
  ),
);

/** One node of a sent graph. What is wrong goes to `issues`; a node whose type is unknown cannot be read further. */
export function normaliseNode(raw: unknown, at: string, types: NodeTypes, issues: Issue[]): DraftNode | null {
  if (!isObject(raw)) {
    issues.push({ code: 'node_not_object', message: 'must be an object', path: at });
    return null;
  }
  const fields = fieldsOf(raw, at, issues);
  fields.refuseOthers(KNOWN);
  const node: DraftNode = {
    id: fields.id('id'),
    client_id: clientId(fields),
    node_type: String(fields.value('node_type') ?? ''),
    title: fields.line('title', MAX_TITLE),
    ref_id: fields.has('ref_id') ? fields.id('ref_id') : undefined,
    x: fields.coordinate('x'),
    y: fields.coordinate('y'),
    config: {},
    mcp_server_ids: undefined,
    attachment_ids: undefined,
  };
  const type = types.get(node.node_type);
  if (!type) {
    fields.fault('node_type_invalid', 'node_type', `must be one of ${[...types.keys()].join(', ')}`);
    return node;
  }
  node.config = configOf(fields, type);
  bindings(fields, node, type);
  return node;
}

/** Any short text names a thing within one save; numbers are taken as their text. */
export function clientId(fields: Fields): string | null {
  const value = fields.value('client_id');
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return fields.line('client_id', MAX_CLIENT_ID);
}

function configOf(fields: Fields, type: NodeType): Json {
  const key = fields.has('config') || !fields.has('config_json') ? 'config' : 'config_json';
  const raw = fields.value(key);
  if (raw !== undefined && raw !== null && !isObject(raw)) {
    fields.fault('config_not_object', key, 'must be an object');
    return {};
  }
  const { config, issues } = normaliseConfig(type, isObject(raw) ? raw : {});
  for (const { code, message, path } of issues) fields.fault(code, `${key}${path}`, message);
  if (issues.length === 0 && Buffer.byteLength(stableStringify(config)) > MAX_CONFIG_BYTES) {
    fields.fault('config_too_large', key, `must have at most ${MAX_CONFIG_BYTES} bytes as JSON`);
  }
  return config;
}

/** The rules of the type, then those of all types. Common keys survive whatever the type does with its own. */
export function normaliseConfig(type: NodeType, raw: Json): { config: Json; issues: Issue[] } {
  const own = type.normaliseConfig(raw);
  const common = Object.entries(raw).filter(
    ([key]) => (COMMON_KEYS as readonly string[]).includes(key) && !Object.hasOwn(own.config, key),
  );
  const { config, issues } = normaliseCommonConfig(
    { ...own.config, ...Object.fromEntries(common) },
    { retentionDefaults: WITH_RETENTION.has(type.name) },
  );
  const seen = new Set(own.issues.map(({ path }) => path));
  return { config, issues: [...own.issues, ...issues.filter(({ path }) => !seen.has(path))] };
}

function bindings(fields: Fields, node: DraftNode, { name, binds }: NodeType): void {
  if (fields.has('skill_ids')) fields.fault('skill_ids_not_writable', 'skill_ids', 'cannot be written');
  for (const key of ['model_id', 'script_ids']) {
    const value = fields.value(key);
    const isEmpty = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) fields.fault('binding_unsupported', key, `cannot be bound to a ${name} node`);
  }
  node.mcp_server_ids = fields.ids('mcp_server_ids', MAX_BINDINGS);
  node.attachment_ids = fields.ids('attachment_ids', MAX_BINDINGS);
  if (name === 'memory') node.mcp_server_ids = [SYSTEM_MCP.id];
  else checkMcp(fields, node, { name, binds });
  if (!binds.attachments && node.attachment_ids && node.attachment_ids.length > 0) {
    fields.fault('binding_unsupported', 'attachment_ids', `a ${name} node takes no attachments`);
  }
}

function checkMcp(
  fields: Fields,
  { mcp_server_ids = [] }: DraftNode,
  { name, binds }: Pick<NodeType, 'name' | 'binds'>,
) {
  if (mcp_server_ids.length === 0) return;
  if (!binds.mcp) {
    fields.fault('binding_unsupported', 'mcp_server_ids', `a ${name} node is bound to no MCP server`);
    return;
  }
  const unknown = mcp_server_ids.filter((id) => id !== SYSTEM_MCP.id);
  if (unknown.length > 0) {
    fields.fault(
      'binding_ids_invalid',
      'mcp_server_ids',
      `names ${unknown.join(', ')}; the only MCP server is ${SYSTEM_MCP.id} (${SYSTEM_MCP.server_key})`,
    );
  }
}
