import * as z from 'zod';
import { packageVersion } from '../../home/index.ts';
import { ERRORS, type ErrorCode } from '../../kernel/errors.ts';
import { type AnyOperation, type HttpRoute, routesOf } from '../../operations/index.ts';

type Json = Record<string, unknown>;

/** Codes that any operation can answer, whatever it does. */
const COMMON: ErrorCode[] = ['BAD_REQUEST', 'HOST_NOT_ALLOWED', 'ORIGIN_NOT_ALLOWED', 'RATE_LIMIT', 'INTERNAL_ERROR'];
const AUTHENTICATED: ErrorCode[] = ['UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND'];
const WITH_BODY: ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

const ErrorSchema = z
  .strictObject({
    error: z.string().describe('Same as message'),
    code: z.string().describe('Stable code; docs/errors.md lists them'),
    message: z.string().describe('What happened and what to do next'),
    details: z.record(z.string(), z.unknown()).describe('More about it, for example a list of issues'),
    request_id: z.string(),
    correlation_id: z.string().optional(),
  })
  .meta({ id: 'Error' });

/** The OpenAPI 3.1 document of the catalogue. */
export function openApiDocument(operations: readonly AnyOperation[]): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    for (const route of routesOf(operation)) {
      paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeRoute(operation, route) };
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Flowright',
      version: packageVersion(),
      description: 'A workbench for work done by people and language models together.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:7480' }],
    security: [{ BearerAuth: [] }],
    tags: [...new Set(operations.flatMap((operation) => routesOf(operation).map(({ tag }) => tag)))].map((name) => ({
      name,
    })),
    paths,
    components: {
      securitySchemes: { BearerAuth: { type: 'http', scheme: 'bearer' } },
      parameters: {
        VaultId: { name: 'X-Vault-Id', in: 'header', description: 'Vault to act in', schema: { type: 'string' } },
        RequestId: {
          name: 'X-Request-ID',
          in: 'header',
          description: 'Your id for this request',
          schema: { type: 'string' },
        },
      },
      schemas: componentSchemas(operations),
    },
  };
}

/** Every error code an operation may answer with: the documented set that a fuzz test holds it to. */
export function documentedCodes(operation: AnyOperation, route: HttpRoute): ErrorCode[] {
  const hasBody = route.method !== 'GET';
  return [
    ...COMMON,
    ...('public' in operation.access ? [] : AUTHENTICATED),
    ...(hasBody ? WITH_BODY : []),
    ...((operation.errors ?? []) as ErrorCode[]),
  ].filter((code, at, all) => all.indexOf(code) === at);
}

function describeRoute(operation: AnyOperation, route: HttpRoute): Json {
  const isPublic = 'public' in operation.access;
  const { parameters, requestBody } = describeInput(operation, route);
  const shared = [{ $ref: '#/components/parameters/RequestId' }];
  if (!isPublic) shared.unshift({ $ref: '#/components/parameters/VaultId' });
  return {
    tags: [route.tag],
    operationId: operation.name,
    summary: operation.summary,
    ...(operation.description ? { description: operation.description } : {}),
    ...(isPublic ? { security: [] } : {}),
    parameters: [...parameters, ...shared],
    ...(requestBody ? { requestBody } : {}),
    responses: {
      [String(route.status ?? 200)]: {
        description: 'Done',
        content: {
          ...(route.raw ? { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } : {}),
          'application/json': { schema: { $ref: componentUri(idOf(operation.output)) } },
        },
      },
      ...describeErrors(documentedCodes(operation, route)),
    },
  };
}

function describeErrors(codes: ErrorCode[]): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code]);
  const content = { 'application/json': { schema: { $ref: componentUri('Error') } } };
  const entries = [...byStatus].sort(([left], [right]) => left - right);
  return Object.fromEntries(entries.map(([status, list]) => [status, { description: list.join(' | '), content }]));
}

function describeInput(operation: AnyOperation, route: HttpRoute): { parameters: Json[]; requestBody?: Json } {
  const input = withComponentRefs(z.toJSONSchema(operation.documentedInput ?? operation.input, { io: 'input' })) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  const properties = { ...input.properties };
  const required = new Set(input.required ?? []);
  const parameters: Json[] = [];
  for (const [, parameter] of route.path.matchAll(/\{([^}]+)\}/g)) {
    const key = route.rename?.[parameter as string] ?? (parameter as string);
    const { description, ...schema } = properties[key] ?? {};
    parameters.push({ name: parameter, in: 'path', required: true, ...(description ? { description } : {}), schema });
    delete properties[key];
    required.delete(key);
  }
  if (route.method === 'GET' || route.method === 'DELETE') {
    for (const [name, { description, ...schema }] of Object.entries(properties)) {
      const more = { ...(required.has(name) ? { required: true } : {}), ...(description ? { description } : {}) };
      parameters.push({ name, in: 'query', ...more, schema });
    }
    return { parameters };
  }
  if (Object.keys(properties).length === 0) return { parameters };
  const schema = { type: 'object', properties, required: [...required], additionalProperties: false };
  return { parameters, requestBody: { required: true, content: { 'application/json': { schema } } } };
}

/** A named schema inside an input is one of the document's components, not a definition of its own. */
function withComponentRefs(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', `"${componentUri('')}`));
}

/** All named schemas that answers are made of, each once, referring to each other. */
function componentSchemas(operations: readonly AnyOperation[]): Json {
  const registry = z.registry<{ id: string }>();
  const add = (schema: z.ZodType, id: string): void => {
    if (!registry.has(schema)) registry.add(schema, { id });
  };
  for (const { output } of operations) {
    add(output, idOf(output));
    for (const [schema, id] of namedWithin(output)) add(schema, id);
  }
  add(ErrorSchema, 'Error');
  const { schemas } = z.toJSONSchema(registry, { uri: componentUri });
  const entries = Object.entries(schemas).map(
    ([id, { $schema: _, $id: __, id: ___, ...schema }]) => [id, schema] as const,
  );
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}

function namedWithin(schema: z.ZodType, found = new Map<z.ZodType, string>()): Map<z.ZodType, string> {
  const { def } = schema._zod;
  const children: z.ZodType[] = [];
  if ('shape' in def) children.push(...(Object.values(def.shape as object) as z.ZodType[]));
  if ('element' in def) children.push(def.element as z.ZodType);
  if ('innerType' in def) children.push(def.innerType as z.ZodType);
  for (const child of children) {
    const id = z.globalRegistry.get(child)?.id;
    if (typeof id === 'string') found.set(child, id);
    namedWithin(child, found);
  }
  return found;
}

function idOf(schema: z.ZodType): string {
  const id = z.globalRegistry.get(schema)?.id;
  if (typeof id !== 'string') throw new Error('an operation output has no component name: give it .meta({ id })');
  return id;
}

function componentUri(id: string): string {
  return `#/components/schemas/${id}`;
}
