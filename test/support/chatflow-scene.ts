import type { App } from '../../src/app.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { Log } from '../../src/kernel/log.ts';
import type { Principal } from '../../src/operations/index.ts';
import { openTestApp } from './app.ts';
import type { TestStore } from './databases.ts';
import type { FakeFlowise } from './fake-flowise/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: payloads of every shape; tests look into them
type Payload = any;
type Input = Record<string, unknown>;

export interface ChatflowScene {
  app: App;
  ask(operation: string, input?: Input, who?: Partial<Principal>): Promise<Payload>;
  /** The refusal, or null when there was none. */
  refusalOf(operation: string, input?: Input, who?: Partial<Principal>): Promise<Payload>;
  close(): Promise<void>;
}

/** The wired program with its Flowise servers: the first is the usual one, further ones are named `second`, `third`. */
export async function openChatflowScene(
  store: TestStore,
  servers: readonly FakeFlowise[],
  options: { env?: Record<string, string>; clock?: Clock; log?: Log } = {},
): Promise<ChatflowScene> {
  const [first, ...others] = servers;
  const named = others.map(({ url, apiKey }, at) => ({ name: ['second', 'third'][at], url, api_key: apiKey }));
  const app = await openTestApp(store, {
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.log ? { log: options.log } : {}),
    env: {
      ...(first ? { FLOWISE_API_URL: first.url, FLOWISE_API_KEY: first.apiKey } : {}),
      ...(named.length > 0 ? { FLOWISE_INSTANCES: JSON.stringify(named) } : {}),
      ...options.env,
    },
  });
  const local = await app.principals.local({ identity: 'local', vaultId: 'default', narrowTo: null, agent: false });
  const ask: ChatflowScene['ask'] = async (name, input = {}, who = {}) => {
    const operations = await app.catalogue.inNamespace(name.split('.')[0] as string);
    const operation = operations.find((candidate) => candidate.name === name);
    if (!operation) throw new Error(`there is no operation ${name}`);
    const call = {
      principal: { ...local, ...who },
      door: 'http' as const,
      request_id: 'test',
      correlation_id: undefined,
    };
    const payload = await app.invoke(operation, call, input);
    operation.output.parse(payload);
    return payload;
  };
  return {
    app,
    ask,
    refusalOf: (name, input, who) =>
      ask(name, input, who).then(
        () => null,
        (error: unknown) => error,
      ),
    close: () => app.close(),
  };
}

/** The usual first chatflow: a model, a memory, a chain. */
export const CONVERSATION_OPS = [
  { op_type: 'add_node', node_name: 'chatOpenAI', node_id: 'chatOpenAI_0', params: { modelName: 'gpt-4o-mini' } },
  { op_type: 'add_node', node_name: 'bufferMemory', node_id: 'bufferMemory_0' },
  { op_type: 'add_node', node_name: 'conversationChain', node_id: 'conversationChain_0' },
  {
    op_type: 'connect',
    source_node_id: 'chatOpenAI_0',
    source_anchor: 'chatOpenAI',
    target_node_id: 'conversationChain_0',
    target_anchor: 'model',
  },
  {
    op_type: 'connect',
    source_node_id: 'bufferMemory_0',
    source_anchor: 'bufferMemory',
    target_node_id: 'conversationChain_0',
    target_anchor: 'memory',
  },
  { op_type: 'bind_credential', node_id: 'chatOpenAI_0', credential_id: 'openAIApi' },
];

/** Compiles, then applies what was compiled. */
export async function change(scene: ChatflowScene, ops: unknown[], more: Input = {}): Promise<Payload> {
  const { server, chatflow_id } = more;
  const place = { ...(server ? { server } : {}), ...(chatflow_id ? { chatflow_id } : {}) };
  const compiled = await scene.ask('patch.compile', { ...place, ops });
  return scene.ask('chatflow.apply', {
    ...more,
    ops,
    payload_hash: compiled.payload_hash,
    ...(compiled.base_hash ? { base_hash: compiled.base_hash } : {}),
  });
}
