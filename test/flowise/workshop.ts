import { randomUUID } from 'node:crypto';
import type { PatchOp } from '../../src/flowise/compiler/ops.ts';
import type { FlowData } from '../../src/flowise/flow/model.ts';
import type { AnyOperation } from '../../src/operations/index.ts';
import { openTestApp } from '../support/app.ts';
import type { Engine } from '../support/databases.ts';
import { makeStore } from '../support/databases.ts';
import { checkCanvas } from '../support/fake-flowise/canvas.ts';
import type { Supplies } from './op-lists.ts';
import { type Raw, type Send, sender, type Target } from './target.ts';

/** The program with its Flowise servers, and a way to see what those hold without asking the program. */
export interface Workshop {
  // biome-ignore lint/suspicious/noExplicitAny: payloads of every operation; cases look into them
  ask(operation: string, input: Record<string, unknown>): Promise<any>;
  /** Compiles and applies; a new chatflow where no id is given. */
  write(ops: readonly PatchOp[], chatflowId?: string): Promise<Written>;
  supplies: Required<Supplies>;
  first: Shelf;
  second: Shelf;
  close(): Promise<void>;
}

export interface Written {
  chatflow_id: string;
  flow_hash: string;
  version: number;
  rebased: boolean;
}

/** One server, seen from outside. */
export interface Shelf {
  name: string;
  target: Target;
  send: Send;
  /** What is stored, after a look whether the canvas could draw it. */
  flow(id: string): Promise<FlowData>;
  predict(id: string, question: string): Promise<Raw>;
  /** A credential for the scripted model. */
  credential(name: string): Promise<string>;
}

export async function openWorkshop(
  engine: Engine,
  servers: { first: Target; second: Target | null },
): Promise<Workshop> {
  const store = await makeStore(engine);
  const { second } = servers;
  const app = await openTestApp(store, {
    env: {
      FLOWISE_API_URL: servers.first.url,
      FLOWISE_API_KEY: servers.first.apiKey,
      ...(second
        ? { FLOWISE_INSTANCES: JSON.stringify([{ name: 'second', url: second.url, api_key: second.apiKey }]) }
        : {}),
    },
  });
  const operations = new Map((await app.catalogue.all()).map((operation) => [operation.name, operation]));
  const principal = await app.principals.local({ identity: 'local', vaultId: 'default', narrowTo: null, agent: false });
  const call = { principal, door: 'cli', request_id: 'cases', correlation_id: undefined } as const;
  const ask: Workshop['ask'] = async (name, input) => app.invoke(operations.get(name) as AnyOperation, call, input);
  const made: (() => Promise<unknown>)[] = [];
  const first = shelf('default', servers.first, made);
  const write: Workshop['write'] = async (ops, chatflow_id) => {
    const name = `case ${randomUUID()}`;
    const compiled = await ask('patch.compile', { ops, ...(chatflow_id ? { chatflow_id } : {}) });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.errors));
    const { payload_hash, base_hash } = compiled;
    const subject = chatflow_id ? { chatflow_id, base_hash } : { name };
    const written = await ask('chatflow.apply', { ...subject, ops, payload_hash });
    if (!chatflow_id) made.push(() => first.send('DELETE', `/chatflows/${written.chatflow_id}`));
    return written;
  };
  const credential = await first.credential('case key');
  return {
    ask,
    write,
    supplies: { modelUrl: servers.first.modelUrl, credential },
    first,
    second: shelf('second', second ?? servers.first, made),
    close: async () => {
      for (const undo of made.reverse()) await undo();
      await app.close();
      await store.remove();
    },
  };
}

function shelf(name: string, target: Target, made: (() => Promise<unknown>)[]): Shelf {
  const send = sender(target);
  return {
    name,
    target,
    send,
    flow: async (id) => {
      const { status, json } = await send('GET', `/chatflows/${id}`);
      if (status !== 200) throw new Error(`no chatflow ${id} on ${target.url}`);
      const problems = checkCanvas(json.flowData);
      if (problems.length > 0) throw new Error(problems.join('\n'));
      return JSON.parse(json.flowData) as FlowData;
    },
    predict: (id, question) => send('POST', `/prediction/${id}`, { question }, { key: null }),
    credential: async (called) => {
      const plainDataObj = { openAIApiKey: 'sk-scripted' };
      const { json } = await send('POST', '/credentials', { name: called, credentialName: 'openAIApi', plainDataObj });
      made.push(() => send('DELETE', `/credentials/${json.id}`));
      return json.id;
    },
  };
}
