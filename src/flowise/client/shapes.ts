import type { ApiCredential, ApiNode, ApiTemplate, ApiTool, ApiVariable, Chatflow, ChatflowType } from './client.ts';

/** Each reads one thing that Flowise sent; null when it is not such a thing. */
type Fields = Record<string, unknown>;

export function fieldsOf(value: unknown): Fields | null {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : null;
}

/** A part of a list. */
export interface Page<T> {
  entries: T[];
  /** Of the whole list; null when the server does not say, because it sent all of it. */
  total: number | null;
}

/** A bare list, or a page of one: then it must be all of it. A text says what is wrong. */
export function readList<T>(answer: unknown, read: (entry: unknown) => T | null): T[] | string {
  const page = readPage(answer, read);
  if (typeof page === 'string') return page;
  const { entries, total } = page;
  return total !== null && total > entries.length ? `it sends ${entries.length} of ${total} entries` : entries;
}

/** A text says what is wrong. */
export function readPage<T>(answer: unknown, read: (entry: unknown) => T | null): Page<T> | string {
  const page = fieldsOf(answer);
  const list = page ? page.data : answer;
  if (!Array.isArray(list)) return 'a list is due';
  const entries: T[] = [];
  for (const [at, entry] of list.entries()) {
    const found = read(entry);
    if (found === null) return `entry ${at} of the list lacks a field or has one of another type`;
    entries.push(found);
  }
  return { entries, total: typeof page?.total === 'number' ? page.total : null };
}

/** What a definition always has is filled in where a component of somebody's own left it out. */
export function readNode(value: unknown): ApiNode | null {
  const node = fieldsOf(value);
  if (!node || typeof node.name !== 'string' || node.name === '') return null;
  const version = Number(node.version);
  return {
    ...node,
    name: node.name,
    label: textOr(node.label, node.name),
    version: node.version !== undefined && node.version !== null && Number.isFinite(version) ? version : 1,
    type: textOr(node.type, node.name),
    category: textOr(node.category, ''),
    baseClasses: Array.isArray(node.baseClasses) ? node.baseClasses.filter((name) => typeof name === 'string') : [],
  };
}

export function readTemplate(value: unknown): ApiTemplate | null {
  const template = fieldsOf(value);
  if (!template) return null;
  const { id, templateName, type } = template;
  if (typeof templateName !== 'string' || typeof type !== 'string') return null;
  return { ...template, id: textOr(id, ''), templateName, type };
}

/** Metadata alone: whatever else a server sends with a credential goes no further than this line. */
export function readCredential(value: unknown): ApiCredential | null {
  const credential = fieldsOf(value);
  if (!credential) return null;
  const { id, name, credentialName, createdDate, updatedDate } = credential;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof credentialName !== 'string') return null;
  return {
    id,
    name,
    credentialName,
    ...(typeof createdDate === 'string' ? { createdDate } : {}),
    ...(typeof updatedDate === 'string' ? { updatedDate } : {}),
  };
}

/** Secrets that Flowise makes for a chatflow and that nothing here needs are dropped. */
export function readChatflow(value: unknown): Chatflow | null {
  const chatflow = fieldsOf(value);
  if (!chatflow) return null;
  const { webhookSecret: _, mcpServerConfig: __, ...fields } = chatflow;
  const { id, name, flowData, type } = fields;
  if (typeof id !== 'string' || id === '' || typeof name !== 'string' || typeof flowData !== 'string') return null;
  return { ...fields, id, name, flowData, type: typeof type === 'string' ? (type as ChatflowType) : null };
}

export function readTool(value: unknown): ApiTool | null {
  const tool = fieldsOf(value);
  if (!tool || typeof tool.id !== 'string' || typeof tool.name !== 'string') return null;
  return {
    id: tool.id,
    name: tool.name,
    description: textOr(tool.description, ''),
    color: textOr(tool.color, ''),
    ...(typeof tool.iconSrc === 'string' ? { iconSrc: tool.iconSrc } : {}),
    schema: textOr(tool.schema, ''),
    func: textOr(tool.func, ''),
  };
}

/** Without its value, which may be a secret. */
export function readVariable(value: unknown): ApiVariable | null {
  const variable = fieldsOf(value);
  if (!variable) return null;
  const { id, name, type } = variable;
  return typeof id === 'string' && typeof name === 'string' ? { id, name, type: textOr(type, 'static') } : null;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
