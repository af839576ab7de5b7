import { randomUUID } from 'node:crypto';
import { json, plain, Refusal } from './answers.ts';
import type { Route } from './route.ts';

const KIND = 'Error: componentsCredentialsService.getSingleComponentsCredential';

/** What a server knows by itself: its version, its nodes, its templates, its kinds of credentials. */
export const catalogueRoutes: readonly Route[] = [
  { method: 'GET', pattern: '/ping', access: 'public', handle: () => plain('pong') },
  { method: 'GET', pattern: '/version', access: 'public', handle: (_call, { version }) => json({ version }) },
  {
    method: 'GET',
    pattern: '/settings',
    access: 'public',
    handle: () => json({ PLATFORM_TYPE: 'open source' }),
  },
  { method: 'GET', pattern: '/nodes', access: null, handle: (_call, { nodes }) => json(nodes) },
  {
    method: 'GET',
    pattern: '/nodes/category/:category',
    access: null,
    handle: ({ params }, { nodes }) => json(nodes.filter(({ category }) => category === params.category)),
  },
  {
    method: 'GET',
    pattern: '/nodes/:name',
    access: null,
    handle: ({ params }, { nodeByName }) => {
      const node = nodeByName.get(params.name ?? '');
      if (node) return json(node);
      throw new Refusal(500, `Error: nodesService.getAllNodes - Node ${params.name} not found`);
    },
  },
  {
    method: 'POST',
    pattern: '/node-load-method/:name',
    access: null,
    handle: ({ params, body }, { nodeByName }) => {
      if (!nodeByName.has(params.name ?? '')) throw new Refusal(404, `Node ${params.name} not found`);
      return json(body.loadMethod === 'listModels' ? [{ label: 'gpt-4o-mini', name: 'gpt-4o-mini' }] : []);
    },
  },
  {
    method: 'GET',
    pattern: '/marketplaces/templates',
    access: ['templates:marketplace'],
    handle: (_call, { templates }) => json(templates.map((template) => ({ id: randomUUID(), ...template }))),
  },
  { method: 'GET', pattern: '/marketplaces/custom', access: ['templates:custom'], handle: () => json([]) },
  {
    method: 'GET',
    pattern: '/components-credentials',
    access: null,
    handle: (_call, { credentialTypes }) => json(credentialTypes),
  },
  {
    method: 'GET',
    pattern: '/components-credentials/:name',
    access: null,
    handle: ({ params }, { credentialTypes }) => {
      const names = (params.name ?? '').split('&amp;');
      const found = names.map((name) => {
        const type = credentialTypes.find((each) => each.name === name);
        if (type) return type;
        throw new Refusal(500, `${KIND} - ${KIND} - Credential ${name} not found`);
      });
      return json(found.length === 1 ? found[0] : found);
    },
  },
];
