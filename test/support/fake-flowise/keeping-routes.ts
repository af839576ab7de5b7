import { json, Refusal } from './answers.ts';
import type { RecordedCredentialType } from './data.ts';
import type { Call, Route } from './route.ts';
import type { CredentialRow, Rows } from './rows.ts';

const BLANK = '_FLOWISE_BLANK_07167752-1a71-43b1-bf8f-4f32252165db';

/** What the server keeps for people beside chatflows: credentials, tools, variables. */
export const keepingRoutes: readonly Route[] = [
  {
    method: 'GET',
    pattern: '/credentials',
    access: ['credentials:view'],
    handle: ({ query }, { rows }) => {
      const names = query.getAll('credentialName');
      const wanted = [...rows.credentials.values()].filter(
        ({ credentialName }) => names.length === 0 || names.includes(credentialName),
      );
      return json(wanted.map((row) => credentialMetadata(row, rows)));
    },
  },
  {
    method: 'POST',
    pattern: '/credentials',
    access: ['credentials:create'],
    handle: ({ body }, { rows }) => {
      for (const field of ['name', 'credentialName'] as const)
        requireField(body, field, 'credential', 'credentialsService.createCredential');
      if (!body.plainDataObj) throw constraint('credential', 'encryptedData', 'credentialsService.createCredential');
      const row = rows.addCredential({
        name: String(body.name),
        credentialName: String(body.credentialName),
        plainDataObj: body.plainDataObj as Record<string, unknown>,
      });
      const { createdDate, updatedDate, id, name, credentialName, encryptedData } = row;
      return json({ name, credentialName, encryptedData, workspaceId: rows.workspaceId, id, createdDate, updatedDate });
    },
  },
  {
    method: 'GET',
    pattern: '/credentials/:id',
    access: ['credentials:view'],
    handle: ({ params }, { rows, credentialTypes }) => {
      const row = rows.credentials.get(params.id ?? '');
      if (!row) {
        throw new Refusal(500, `Error: credentialsService.createCredential - Credential ${params.id} not found`);
      }
      return json({ ...credentialMetadata(row, rows), plainDataObj: blanked(row, credentialTypes) });
    },
  },
  {
    method: 'DELETE',
    pattern: '/credentials/:id',
    access: ['credentials:delete'],
    handle: ({ params }, { rows }) => removed(rows.credentials.delete(params.id ?? '')),
  },
  {
    method: 'GET',
    pattern: '/tools',
    access: ['tools:view'],
    handle: ({ query }, { rows }) => listed(inWorkspace(rows.tools, rows), query),
  },
  {
    method: 'POST',
    pattern: '/tools',
    access: ['tools:create'],
    handle: ({ body }, { rows }) => {
      for (const field of ['name', 'description', 'color'] as const)
        requireField(body, field, 'tool', 'toolsService.createTool');
      const row = rows.addTool({
        name: String(body.name),
        description: String(body.description),
        color: String(body.color),
        iconSrc: textOrNull(body.iconSrc),
        schema: textOrNull(body.schema),
        func: textOrNull(body.func),
      });
      return json({ ...row, workspaceId: rows.workspaceId });
    },
  },
  {
    method: 'GET',
    pattern: '/tools/:id',
    access: ['tools:view'],
    handle: ({ params }, { rows }) => {
      const row = rows.tools.get(params.id ?? '');
      if (row) return json({ ...row, workspaceId: rows.workspaceId });
      throw new Refusal(500, `Error: toolsService.getToolById - Tool ${params.id} not found`);
    },
  },
  {
    method: 'DELETE',
    pattern: '/tools/:id',
    access: ['tools:delete'],
    handle: ({ params }, { rows }) => removed(rows.tools.delete(params.id ?? '')),
  },
  {
    method: 'GET',
    pattern: '/variables',
    access: ['variables:view'],
    handle: ({ query }, { rows }) => listed(inWorkspace(rows.variables, rows), query),
  },
  {
    method: 'POST',
    pattern: '/variables',
    access: ['variables:create'],
    handle: ({ body }, { rows }) => {
      requireField(body, 'name', 'variable', 'variablesServices.createVariable');
      const row = rows.addVariable({
        name: String(body.name),
        value: textOrNull(body.value),
        type: String(body.type ?? 'string'),
      });
      return json({ ...row, workspaceId: rows.workspaceId });
    },
  },
  {
    method: 'DELETE',
    pattern: '/variables/:id',
    access: ['variables:delete'],
    handle: ({ params }, { rows }) => removed(rows.variables.delete(params.id ?? '')),
  },
  { method: 'GET', pattern: '/assistants', access: ['assistants:view'], handle: () => json([]) },
  { method: 'GET', pattern: '/document-store/store', access: ['documentStores:view'], handle: () => json([]) },
];

/** A list is bare unless both page and limit are asked for. */
export function listed<T>(all: readonly T[], query: Call['query']) {
  const page = Number(query.get('page') ?? -1);
  const limit = Number(query.get('limit') ?? -1);
  if (!(page > 0 && limit > 0)) return json(all);
  return json({ data: all.slice((page - 1) * limit, page * limit), total: all.length });
}

export function removed(was: boolean) {
  return json({ raw: [], affected: was ? 1 : 0 });
}

function inWorkspace<T>(table: ReadonlyMap<string, T>, { workspaceId }: Rows): (T & { workspaceId: string })[] {
  return [...table.values()].map((row) => ({ ...row, workspaceId }));
}

function credentialMetadata({ id, name, credentialName, createdDate, updatedDate }: CredentialRow, rows: Rows) {
  return { id, name, credentialName, createdDate, updatedDate, workspaceId: rows.workspaceId };
}

function blanked(row: CredentialRow, types: readonly RecordedCredentialType[]): Record<string, unknown> {
  const inputs = types.find(({ name }) => name === row.credentialName)?.inputs ?? [];
  return Object.fromEntries(
    Object.entries(row.plainDataObj).map(([name, value]) => [
      name,
      inputs.some((input) => input.name === name && input.type === 'password') ? BLANK : value,
    ]),
  );
}

function textOrNull(value: unknown): string | null {
  return value === undefined || value === null ? null : String(value);
}

function requireField(body: Record<string, unknown>, field: string, table: string, where: string): void {
  if (body[field] === undefined || body[field] === null) throw constraint(table, field, where);
}

function constraint(table: string, field: string, where: string): Refusal {
  return new Refusal(500, `Error: ${where} - SQLITE_CONSTRAINT: NOT NULL constraint failed: ${table}.${field}`);
}
