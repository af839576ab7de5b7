import { CONVERSATION_OPS } from './chatflow-scene.ts';
import type { FakeFlowise } from './fake-flowise/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: payloads of every shape; tests look into them
type Payload = any;
type Input = Record<string, unknown>;
type Ask = (operation: string, input: Input) => Promise<Payload>;

/** One of everything that belongs to Flowise, in one vault: two servers, a chatflow with a history, a copy of it. */
export interface FlowiseScene {
  /** The usual server, and another one. */
  servers: { main: string; other: string };
  chatflow_id: string;
  /** The copy on the other server. */
  target_id: string;
  /** Names of the operations that `inputFor` knows. */
  names: string[];
  /** An input that the operation accepts from somebody who may use it. What it would use up is made anew. */
  inputFor(operation: string): Promise<Input>;
}

const ROOMS = ['server', 'knowledge', 'chatflow', 'patch'];

/** Is the operation about Flowise servers, their chatflows or what is known of them? */
export function isOfFlowise(operation: string): boolean {
  return ROOMS.includes(operation.split('.')[0] ?? '');
}

/** Makes the scene through the operations themselves. */
export async function makeFlowiseScene(
  ask: Ask,
  [main, other]: readonly [FakeFlowise, FakeFlowise],
  names = { main: 'main', other: 'other' },
): Promise<FlowiseScene> {
  for (const [name, { url, apiKey }] of [[names.main, main] as const, [names.other, other] as const]) {
    await ask('server.add', { name, url, api_key: apiKey, default: name === names.main });
  }
  let made = 0;
  const fresh = (word: string): string => {
    made += 1;
    return `${word}-${made}`;
  };
  /** The approved form of a change: what was compiled, and on what. */
  const compiled = async (change: Input): Promise<Input> => {
    const { base_hash, payload_hash } = await ask('patch.compile', change);
    return { ...change, payload_hash, ...(base_hash ? { base_hash } : {}) };
  };
  const ops = CONVERSATION_OPS;
  const { chatflow_id } = await ask('chatflow.apply', { ...(await compiled({ ops })), name: 'Talk' });
  const relabel = (label: string) => ({
    chatflow_id,
    ops: [{ op_type: 'set_label', node_id: 'chatOpenAI_0', label }],
  });
  await ask('chatflow.apply', await compiled(relabel('Model')));
  const to_server = names.other;
  const { chatflow_id: target_id } = await ask('chatflow.promote', { chatflow_id, to_server });

  const inputs: Record<string, () => Promise<Input> | Input> = {
    'server.list': () => ({}),
    'server.add': () => ({ name: fresh('extra'), url: main.url, api_key: main.apiKey }),
    'server.default': () => ({ name: names.main }),
    'server.test': () => ({ name: names.main }),
    'server.remove': async () => {
      const name = fresh('gone');
      await ask('server.add', { name, url: main.url });
      return { name };
    },
    'knowledge.status': () => ({}),
    'knowledge.refresh': () => ({ credentials: true }),
    'knowledge.audit': () => ({}),
    'knowledge.node': () => ({ node_type: 'chatOpenAI' }),
    'knowledge.nodes': () => ({ category: 'Chat Models' }),
    'chatflow.list': () => ({}),
    'chatflow.get': () => ({ chatflow_id }),
    'chatflow.validate': () => ({ chatflow_id }),
    'chatflow.diff': () => ({ chatflow_id, from: '1' }),
    'chatflow.history': () => ({ chatflow_id }),
    'chatflow.export': () => ({ chatflow_id }),
    'chatflow.sync': () => ({ chatflow_id }),
    'chatflow.label': () => ({ chatflow_id, version: '1', label: fresh('label') }),
    'chatflow.apply': async () => ({ ...(await compiled({ ops })), name: fresh('Made') }),
    'chatflow.restore': () => ({ chatflow_id, version: '1' }),
    'chatflow.promote': () => ({ chatflow_id, to_server, target_id }),
    'patch.compile': () => relabel('Another model'),
  };
  return {
    servers: names,
    chatflow_id,
    target_id,
    names: Object.keys(inputs),
    inputFor: async (operation) => {
      const input = inputs[operation];
      if (!input) throw new Error(`no input is known for ${operation}: add one`);
      return input();
    },
  };
}

/** Two servers with a credential each, for a scene. */
export function sceneServers(start: (options: object) => Promise<FakeFlowise>): Promise<[FakeFlowise, FakeFlowise]> {
  const credentials = [{ name: 'model key', credentialName: 'openAIApi' }];
  return Promise.all([start({ credentials }), start({ credentials })]);
}
