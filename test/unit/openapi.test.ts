import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ERRORS } from '../../src/kernel/errors.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { openApiYaml } from '../../src/surfaces/cli/commands/openapi.ts';
import { documentedCodes, openApiDocument } from '../../src/surfaces/http/openapi.ts';
import { ROOT } from '../support/program.ts';

type Json = Record<string, unknown>;
interface Described {
  tags: string[];
  summary: string;
  parameters: { name?: string; in?: string; required?: boolean; schema?: Json; $ref?: string }[];
  requestBody?: {
    content: {
      'application/json': { schema: { properties: Json; required: string[]; additionalProperties: boolean } };
    };
  };
  responses: Record<string, { description: string; content: { 'application/json': { schema: { $ref: string } } } }>;
}

const operations = await createCatalogue().all();
const document = openApiDocument(operations);
const paths = document.paths as Record<string, Record<string, Described>>;
const schemas = (document.components as { schemas: Record<string, Json> }).schemas;
const answer = (route: Described | undefined, status: string) =>
  route?.responses[status]?.content['application/json'].schema.$ref;
const own = (route: Described | undefined) => route?.parameters.filter(({ $ref }) => $ref === undefined);

describe('[S002-6-openapi] the OpenAPI document', () => {
  it('has the tag Flows', () => {
    expect(document.tags).toContainEqual({ name: 'Flows' });
  });

  it('describes the list of flows', () => {
    const list = paths['/api/v1/flows']?.get;
    expect(list).toMatchObject({ tags: ['Flows'], summary: 'List scope-visible flows (content-minimized)' });
    expect(own(list)).toEqual([
      expect.objectContaining({
        name: 'scope',
        in: 'query',
        schema: { type: 'string', enum: ['personal', 'project', 'org'] },
      }),
      expect.objectContaining({ name: 'tag', in: 'query', schema: expect.objectContaining({ type: 'string' }) }),
      expect.objectContaining({ name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 200 } }),
    ]);
    expect(answer(list, '200')).toBe('#/components/schemas/FlowListResponse');
    for (const status of ['400', '401', '403']) expect(answer(list, status)).toBe('#/components/schemas/Error');
    expect(list?.responses['403']?.description).toContain('FLOW_SCOPE_DENIED');
    expect(list?.responses['400']?.description).toContain('FLOW_SCOPE_AMBIGUOUS');
  });

  it('describes one flow', () => {
    const get = paths['/api/v1/flows/{id}']?.get;
    expect(get).toMatchObject({ tags: ['Flows'], summary: 'Get one flow definition + ordered steps' });
    expect(own(get)).toEqual([
      expect.objectContaining({
        name: 'id',
        in: 'path',
        required: true,
        schema: expect.objectContaining({ type: 'string' }),
      }),
      expect.objectContaining({ name: 'version', in: 'query', schema: expect.objectContaining({ type: 'string' }) }),
    ]);
    expect(get?.parameters[1]?.required).toBeUndefined();
    expect(answer(get, '200')).toBe('#/components/schemas/FlowGetResponse');
    for (const status of ['400', '401', '403', '404']) expect(answer(get, status)).toBe('#/components/schemas/Error');
    expect(get?.responses['404']?.description).toContain('unknown_flow');
  });

  it('asks for a bearer token and takes X-Vault-Id everywhere but at health', () => {
    expect(document.security).toEqual([{ BearerAuth: [] }]);
    for (const [path, methods] of Object.entries(paths)) {
      for (const route of Object.values(methods)) {
        const takesVault = route.parameters.some(({ $ref }) => $ref === '#/components/parameters/VaultId');
        expect(takesVault, path).toBe(path !== '/api/v1/health');
      }
    }
  });

  it.each(['FlowListResponse', 'FlowSummary', 'FlowGetResponse', 'Flow', 'FlowStep', 'Error'])('names %s', (name) => {
    expect(schemas[name]).toMatchObject({ type: 'object', additionalProperties: false });
  });

  it('has the pinned fields and bounds', () => {
    const required = (name: string) => schemas[name]?.required;
    const properties = (name: string) => schemas[name]?.properties as Record<string, Json>;
    expect(required('FlowListResponse')).toEqual(['schema', 'vault_id', 'effective_scope', 'flows', 'truncated']);
    expect(required('FlowGetResponse')).toEqual(['schema', 'vault_id', 'flow', 'steps']);
    expect(properties('FlowListResponse').flows).toMatchObject({
      maxItems: 200,
      items: { $ref: '#/components/schemas/FlowSummary' },
    });
    expect(properties('FlowGetResponse').steps).toMatchObject({
      maxItems: 100,
      items: { $ref: '#/components/schemas/FlowStep' },
    });
    expect(properties('FlowSummary').tags).toMatchObject({ maxItems: 32 });
    expect(Object.keys(properties('FlowSummary'))).not.toContain('steps');
    expect(required('Error')).toEqual(['error', 'code', 'message', 'details', 'request_id']);
  });

  describe('[S003-1-one-handler] of proposing', () => {
    const body = (route: Described | undefined) => route?.requestBody?.content['application/json'].schema;
    const codes = (route: Described | undefined) =>
      Object.fromEntries(
        Object.entries(route?.responses ?? {}).map(([status, { description }]) => [status, description]),
      );

    it.each([
      ['/api/v1/flows', ['flow', 'steps', 'intent']],
      ['/api/v1/flows/{id}/proposals', ['flow', 'steps', 'intent']],
      ['/api/v1/flows/import', ['bundle', 'intent']],
    ])('describes POST %s', (path, required) => {
      const route = paths[path]?.post;
      expect(route?.tags).toEqual(['Flows']);
      expect(answer(route, '201')).toBe('#/components/schemas/FlowProposal');
      expect(body(route)?.required).toEqual(expect.arrayContaining(required));
      expect(body(route)?.additionalProperties).toBe(false);
      expect(codes(route)['403']).toMatch(/FLOW_AUTHORING_DISABLED.*FLOW_AUTHORING_POLICY_FORBIDDEN/);
      expect(codes(route)['409']).toContain('FLOW_LINEAGE_CONFLICT');
      expect(codes(route)['400']).toContain('FLOW_SCOPE_AMBIGUOUS');
    });

    it('tells an edit from an import by what can go wrong', () => {
      const edit = codes(paths['/api/v1/flows/{id}/proposals']?.post);
      expect([edit['400'], edit['403'], edit['404']].join()).toMatch(
        /FLOW_DRAFT_INVALID.*FLOW_SCOPE_DENIED.*unknown_flow/,
      );
      const imported = codes(paths['/api/v1/flows/import']?.post);
      expect(imported['400']).toContain('FLOW_IMPORT_BUNDLE_MALFORMED');
      for (const code of ['SCOPE', 'EXTERNAL_TOOL', 'AUTOMATABLE']) {
        expect(imported['403']).toContain(`FLOW_IMPORT_${code}_DENIED`);
      }
    });

    it('names the flow of an edit in the path and not again in the body', () => {
      const edit = paths['/api/v1/flows/{id}/proposals']?.post;
      expect(own(edit)).toEqual([expect.objectContaining({ name: 'id', in: 'path', required: true })]);
      expect(Object.keys(body(edit)?.properties ?? {})).not.toContain('flow_id');
    });

    it('[S003-1.2-envelope] has the envelope with its nine keys', () => {
      const { required, additionalProperties } = schemas.FlowProposal as {
        required: string[];
        additionalProperties: boolean;
      };
      expect(required).toEqual([
        'schema',
        'proposal_id',
        'flow_id',
        'base_version',
        'base_state_id',
        'scope',
        'auto_approvable',
        'status',
        'review_queue',
      ]);
      expect(additionalProperties).toBe(false);
    });

    it('describes the whole life of a proposal', () => {
      const lives = Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/proposals'));
      expect(
        lives.flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`)).sort(),
      ).toEqual([
        'get /api/v1/proposals',
        'get /api/v1/proposals/{id}',
        'get /api/v1/proposals/{id}/diff',
        'post /api/v1/proposals',
        'post /api/v1/proposals/{id}/approve',
        'post /api/v1/proposals/{id}/comments',
        'post /api/v1/proposals/{id}/discard',
        'post /api/v1/proposals/{id}/evaluation',
        'post /api/v1/proposals/{id}/withdraw',
      ]);
      expect(codes(paths['/api/v1/proposals/{id}/approve']?.post)['403']).toContain('EVALUATION_REQUIRED');
    });
  });

  it('has no reference that leads nowhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, target]) => target as string,
    );
    const missing = references.filter((target) => resolve(target) === undefined);
    expect(references.length).toBeGreaterThan(50);
    expect(missing).toEqual([]);
  });

  it('says of each route only codes of the catalogue', () => {
    for (const operation of operations) {
      for (const route of [operation.http].flat()) {
        expect(Object.keys(ERRORS)).toEqual(expect.arrayContaining(documentedCodes(operation, route)));
      }
    }
  });

  it('is the one in docs/openapi.yaml', () => {
    const written = readFileSync(join(ROOT, 'docs/openapi.yaml'), 'utf8');
    expect(written, 'docs/openapi.yaml is stale: run npm run openapi').toBe(openApiYaml(document));
    expect(parse(written)).toEqual(JSON.parse(JSON.stringify(document)));
  });
});

function resolve(reference: string): unknown {
  const steps = reference.replace(/^#\//, '').split('/');
  return steps.reduce<unknown>((place, step) => (place as Json | undefined)?.[step], document);
}
