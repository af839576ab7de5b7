import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { ERRORS, type FlowrightError, refusal } from '../../kernel/errors.ts';
import { yaml } from '../../kernel/yaml.ts';
import { asRecord, MAX_ACTIONS, type WorkdayAction, workdayAction } from './action.ts';
import { resolveRefs } from './resolve-refs.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];
const MAX_FILE_BYTES = 30_000_000;

/** The operations of an OpenAPI 3 document, JSON or YAML. */
export function actionsFromOpenApi(path: string): WorkdayAction[] {
  let text: string;
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw new Error(`it has more than ${MAX_FILE_BYTES / 1_000_000} MB`);
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    throw unreadable(path, code === 'ENOENT' ? 'there is no such file' : (code ?? message));
  }
  const document = asRecord(parsed(path, text));
  const version = document?.openapi;
  if (document === null || typeof version !== 'string' || !version.startsWith('3.')) {
    throw unreadable(path, 'it does not say openapi: 3.x');
  }
  const actions = new Map<string, WorkdayAction>();
  for (const { route, method, shared, operation } of operationsOf(document)) {
    if (actions.size >= MAX_ACTIONS) throw unreadable(path, `it has more than ${MAX_ACTIONS} operations`);
    const place = `${method.toUpperCase()} ${route}`;
    const id = operation.operationId;
    const action = typeof id === 'string' && id !== '' && !actions.has(id) ? id : place;
    const description = [operation.summary, operation.description].find(
      (said) => typeof said === 'string' && said !== '',
    );
    actions.set(
      action,
      workdayAction({
        action,
        description: description as string | undefined,
        input_schema: inputSchema(document, shared, operation),
        output_schema: outputSchema(document, operation),
      }),
    );
  }
  if (actions.size === 0) throw unreadable(path, 'it has no operations');
  const all = [...actions.values()];
  if (JSON.stringify(all).length > MAX_FILE_BYTES) throw unreadable(path, 'its schemas are too large');
  return all;
}

function parsed(path: string, text: string): unknown {
  try {
    // JSON first: it is what large documents are, and many times faster to read.
    if (text.trimStart().startsWith('{')) return JSON.parse(text);
    return yaml().parse(text, { maxAliasCount: 1_000, logLevel: 'silent' });
  } catch (thrown) {
    throw unreadable(path, (thrown as Error).message.split('\n', 1)[0] ?? '');
  }
}

interface FoundOperation {
  route: string;
  method: string;
  shared: unknown;
  operation: Record<string, unknown>;
}

function operationsOf(document: Record<string, unknown>): FoundOperation[] {
  return Object.entries(asRecord(document.paths) ?? {}).flatMap(([route, raw]) => {
    const item = asRecord(resolveRefs(document, asRecord(raw)?.$ref ? raw : null)) ?? asRecord(raw) ?? {};
    return METHODS.flatMap((method) => {
      const operation = asRecord(item[method]);
      return operation ? [{ route, method, shared: item.parameters, operation }] : [];
    });
  });
}

/** Parameters by name, and the JSON body as `body`: one object, as a tool takes it. */
function inputSchema(document: unknown, shared: unknown, operation: Record<string, unknown>): unknown {
  const properties: Record<string, unknown> = {};
  const required = new Set<string>();
  const lists = [shared, operation.parameters].flatMap((list) => (Array.isArray(list) ? list : []));
  for (const raw of lists) {
    const parameter = asRecord(resolveRefs(document, raw));
    if (typeof parameter?.name !== 'string') continue;
    const { name, description } = parameter;
    const schema = asRecord(parameter.schema) ?? jsonContent(parameter) ?? {};
    properties[name] = { ...schema, ...(typeof description === 'string' ? { description } : {}) };
    if (parameter.required === true) required.add(name);
    else required.delete(name);
  }
  const body = asRecord(resolveRefs(document, operation.requestBody));
  const content = body && jsonContent(body);
  if (body && content) {
    properties.body = content;
    if (body.required === true) required.add('body');
  }
  return { type: 'object', properties, ...(required.size > 0 ? { required: [...required] } : {}) };
}

/** That of the first success that says one. */
function outputSchema(document: unknown, operation: Record<string, unknown>): unknown {
  const responses = Object.entries(asRecord(operation.responses) ?? {}).filter(([status]) => /^2/.test(status));
  for (const [, raw] of responses) {
    const schema = jsonContent(asRecord(resolveRefs(document, raw)) ?? {});
    if (schema) return schema;
  }
  return null;
}

function jsonContent(holder: Record<string, unknown>): Record<string, unknown> | null {
  const content = Object.entries(asRecord(holder.content) ?? {});
  const json = content.find(([type]) => /^application\/(?:[\w.+-]+\+)?json\b/i.test(type));
  return asRecord(asRecord(json?.[1])?.schema);
}

function unreadable(path: string, reason: string): FlowrightError {
  const message = `The OpenAPI file of workday_api_spec, ${basename(path)}, cannot be read: ${reason}.`;
  return refusal('CONFIG_INVALID', `${message} ${ERRORS.CONFIG_INVALID.next}`, { setting: 'workday_api_spec' });
}
