import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createServers } from '../../src/flowise/index.ts';
import { packageRoot } from '../../src/home/index.ts';
import { resolveConfig } from '../../src/kernel/config.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createKnowledge } from '../../src/knowledge/index.ts';
import { operations } from '../../src/knowledge/operations.ts';
import type { RefreshDeps } from '../../src/knowledge/refresh.ts';
import { type Engine, makeStore } from '../support/databases.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';
import { type Asking, invoked, type Payload } from '../support/invoked.ts';

export const FIRST_DAY = '2026-02-23T12:00:00.000Z';

export interface RefreshScene {
  deps: RefreshDeps;
  /** The folder of the server named default. */
  folder: string;
  /** What the time is from now on. */
  at(time: string): void;
  refresh(input: Record<string, unknown>, asking?: Asking): Promise<Payload>;
  ask(name: string, input: Record<string, unknown>, asking?: Asking): Promise<Payload>;
  codeOf(name: string, input: Record<string, unknown>, asking?: Asking): Promise<string>;
  /** Everything in the folder: file → content. */
  files(): Record<string, string>;
  json(file: string): Payload;
  auditLines(): Promise<{ action: string; detail_json: string }[]>;
}

/** The knowledge room on a database of its own, with a Flowise server unless null is given. */
export async function refreshScene(
  fake: FakeFlowise | null,
  options: { env?: Record<string, string>; engine?: Engine; reference?: string; baselineDir?: string } = {},
): Promise<RefreshScene> {
  const store = await makeStore(options.engine ?? 'sqlite');
  const database = await store.open();
  const server = fake ? { FLOWISE_API_URL: fake.url, FLOWISE_API_KEY: fake.apiKey } : {};
  const { config } = resolveConfig({ file: {}, environment: { ...server, ...options.env } });
  let now = new Date(FIRST_DAY);
  const clock = { now: () => now };
  const flowise = createServers({ database, config, clock, log: silentLog, sealingKey: () => Buffer.alloc(32, 7) });
  onTestFinished(async () => {
    await flowise.close();
    await store.remove();
  });
  const knowledgeFolders = {
    schemasDir: join(store.home, 'schemas'),
    baselineDir: options.baselineDir ?? join(packageRoot(), 'schemas'),
    reference: options.reference ?? join(packageRoot(), 'FLOWISE_NODE_REFERENCE.md'),
  };
  const deps: RefreshDeps = { flowise, knowledgeFolders, config, clock, log: silentLog };
  const knowledge = createKnowledge({ ...deps, ...knowledgeFolders, servers: flowise });
  const { ask, codeOf } = invoked(operations, { ...deps, database, knowledge });
  const folder = config.knowledge_schemas_dir ?? join(knowledgeFolders.schemasDir, 'default');
  return {
    deps,
    folder,
    ask,
    codeOf,
    at: (time) => {
      now = new Date(time);
    },
    refresh: (input, asking) => ask('knowledge.refresh', input, asking),
    files: () => contents(folder),
    json: (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')),
    auditLines: async () =>
      database.queries.selectFrom('audit').select(['action', 'detail_json']).orderBy('sequence').execute(),
  };
}

function contents(folder: string): Record<string, string> {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json') && !name.endsWith('.checked.json'));
    return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  } catch {
    return {};
  }
}

/** A server with few nodes and templates, which is quick. */
export async function smallFlowise(options: Parameters<typeof startFakeFlowise>[0] = {}): Promise<FakeFlowise> {
  const fake = await startFakeFlowise({ nodes: [SMALL_NODE], templates: SMALL_TEMPLATES, ...options });
  onTestFinished(() => fake.close());
  return fake;
}

export const SMALL_NODE = {
  name: 'zapierNLA',
  label: 'Zapier',
  version: 2,
  type: 'Zapier',
  category: 'Tools',
  baseClasses: ['Zapier', 'Tool'],
  inputs: [
    { label: 'Model', name: 'model', type: 'BaseChatModel' },
    {
      label: 'Mode',
      name: 'mode',
      type: 'options',
      options: [{ label: 'A', name: 'a' }],
      default: 'a',
      optional: true,
    },
  ],
};

export const SMALL_TEMPLATES: FakeFlowise['world']['templates'] = [
  { templateName: 'PDF chat', type: 'Chatflow', flowData: '{"nodes":[],"edges":[]}', usecases: ['Documents QnA'] },
  { templateName: 'Translator', type: 'AgentflowV2', flowData: '{"nodes":[],"edges":[]}', description: 'Words.' },
];

/** A reference of one node, so that reading it takes no time. */
export const SMALL_REFERENCE = `## Chat Models (1)

### Echo (\`chatEcho\`)

\`\`\`yaml
version: 1
type: Echo
baseClasses: [Echo, BaseChatModel]
\`\`\`
`;
