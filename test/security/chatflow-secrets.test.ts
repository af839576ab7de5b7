import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AnyOperation, toToolResult } from '../../src/operations/index.ts';
import { createHttpServer } from '../../src/surfaces/http/server.ts';
import { type ChatflowScene, CONVERSATION_OPS, change, openChatflowScene } from '../support/chatflow-scene.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';
import { recordingLog } from '../support/knowledge.ts';
import { flowright } from '../support/program.ts';
import { flowFullOfSecrets, PLANTED, Secrets } from './planted-secrets.ts';

// biome-ignore lint/suspicious/noExplicitAny: flows and answers of every shape
type Any = any;
type Asked = [operation: string, input: Record<string, unknown>];

const LABEL = [{ op_type: 'set_label', node_id: 'stickyNote_0', label: 'Renamed' }];
const DIGEST_CHARS = 1_200;

/** The planted secrets that stand in a text, with what stands around the first. */
const leaks = (text: string): string[] => {
  const found = [...new Set(text.match(PLANTED))];
  const at = text.search(PLANTED);
  return found.length === 0 ? [] : [`${found.length}: …${text.slice(Math.max(0, at - 60), at + 40)}…`];
};

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let fake: FakeFlowise;
  let second: FakeFlowise;
  let scene: ChatflowScene;
  let http: FastifyInstance;
  let secrets: Secrets;
  let token: string;
  const { log, lines } = recordingLog();
  /** What is shown does not depend on the database: the whole catalogue on one is enough. */
  const every = engine === 'sqlite' || process.env.TEST_DATABASES === 'all' ? 1 : 10;

  beforeEach(async () => {
    lines.length = 0;
    secrets = new Secrets();
    store = await makeStore();
    fake = await startFakeFlowise({
      credentials: [{ name: 'our key', credentialName: 'openAIApi', plainDataObj: { openAIApiKey: secrets.plain() } }],
    });
    second = await startFakeFlowise({ credentials: [{ name: 'our key', credentialName: 'openAIApi' }] });
    scene = await openChatflowScene(store, [fake, second], { log, env: { KNOWLEDGE_REPAIR_LOG: '1' } });
    http = await createHttpServer(scene.app);
    token = (await scene.ask('token.create', { user: 'local' })).token;
  });

  afterEach(async () => {
    await http.close();
    await scene.close();
    await fake.close();
    await second.close();
    await store.remove();
  });

  const operationNamed = async (name: string): Promise<AnyOperation> =>
    (await scene.app.catalogue.inNamespace(name.split('.')[0] as string)).find(
      (operation) => operation.name === name,
    ) as AnyOperation;

  /** Everything that is told of an answer: as payload, over HTTP, on a terminal with and without colours, to a model. */
  const everythingTold = async ([name, input]: Asked): Promise<string> => {
    const operation = await operationNamed(name);
    const payload = await scene.ask(name, input).catch((error: Any) => error);
    if (payload instanceof Error) {
      const { message, code, details } = payload as Any;
      return inspect({ message, code, details }, { depth: 20, maxStringLength: null, maxArrayLength: null });
    }
    const { render, renderInColour } = (operation.cli ?? {}) as Any;
    const result = toToolResult(name, payload, { digest: operation.digest } as Any);
    return [
      JSON.stringify(payload),
      render?.(payload),
      renderInColour?.(payload),
      result.summary,
      JSON.stringify([result.facts, result.error, result.artifacts]),
    ].join('\n');
  };

  const overHttp = async (method: 'GET' | 'POST', url: string, body?: unknown): Promise<string> => {
    const headers = { authorization: `Bearer ${token}`, host: '127.0.0.1', 'content-type': 'application/json' };
    const { body: text } = await http.inject({
      method,
      url,
      headers,
      ...(body ? { payload: JSON.stringify(body) } : {}),
    });
    return text;
  };

  const stored = async (): Promise<string> => {
    const { queries } = scene.app.services.database;
    const tables = [
      'chatflow_states',
      'chatflow_versions',
      'chatflow_writes',
      'audit',
      'events',
      'flowise_servers',
    ] as const;
    const rows = [];
    for (const table of tables) rows.push(await queries.selectFrom(table).selectAll().execute());
    return JSON.stringify(rows);
  };

  const filesUnder = (folder: string): string[] =>
    readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      return statSync(path).isDirectory() ? filesUnder(path) : [path];
    });

  /** What stands in files, the database among them, and in the log. */
  const leaksAround = async (): Promise<string[]> => {
    const files = filesUnder(store.home).map((path) => [path.slice(store.home.length), readFileSync(path, 'latin1')]);
    const texts = [...files, ['tables', await stored()], ['log', inspect(lines, { depth: 20, maxStringLength: null })]];
    return texts.flatMap(([name, text]) => leaks(text as string).map((leak) => `${name} ${leak}`));
  };

  const planted = () => {
    const flow = flowFullOfSecrets(secrets, every);
    const settings = {
      chatbotConfig: JSON.stringify({ apiKey: secrets.plain() }),
      apiConfig: JSON.stringify({ token: secrets.plain() }),
      analytic: JSON.stringify({ langSmith: { secretKey: secrets.plain() } }),
    };
    const { id } = fake.rows.addChatflow({ name: 'Everything', flowData: flow, ...settings });
    return { id, text: JSON.stringify(flow), settings };
  };

  it('[FLR-no-secret-anywhere] a secret in any input of any node is in no answer, file, row or log line', async () => {
    const { id: chatflow_id, text } = planted();
    expect(new Set(text.match(PLANTED)).size).toBeGreaterThan(2_000 / every);
    const asked: Asked[] = [
      ['chatflow.sync', {}],
      ['chatflow.list', {}],
      ['chatflow.get', { chatflow_id, include_flow: true }],
      ['chatflow.validate', { chatflow_id }],
      ['chatflow.validate', { flow_data: text }],
      ['chatflow.export', {}],
      ['chatflow.history', { chatflow_id }],
      ['chatflow.label', { chatflow_id, version: '1', label: 'full' }],
      ['patch.compile', { chatflow_id, ops: LABEL }],
      ['patch.compile', { flow_data: text }],
      ['patch.compile', { chatflow_id, ops: [{ op_type: 'remove_node', node_id: 'stickyNote_0' }] }],
      ['knowledge.refresh', { all: true, from_api: true, write_reference: true }],
      ['knowledge.status', {}],
      ['server.list', {}],
      ['server.test', {}],
    ];
    for (const each of asked) expect(leaks(await everythingTold(each)), each[0]).toEqual([]);
    await change(scene, LABEL, { chatflow_id });
    fake.rows.editInCanvas(chatflow_id, (flow: Any) => {
      for (const node of flow.nodes) node.data.inputs = {};
    });
    const later: Asked[] = [
      ['chatflow.diff', { chatflow_id, from: '2', to: 'live' }],
      ['chatflow.diff', { chatflow_id, from: 'live', to: 'full' }],
      ['chatflow.sync', {}],
      ['chatflow.restore', { chatflow_id, version: 'full' }],
      ['chatflow.promote', { chatflow_id, to_server: 'second' }],
      ['chatflow.history', { chatflow_id }],
      ['audit.list', {}],
    ];
    for (const each of later) expect(leaks(await everythingTold(each)), each[0]).toEqual([]);
    const requests: Parameters<typeof overHttp>[] = [
      ['GET', '/api/v1/chatflows'],
      ['GET', `/api/v1/chatflows/${chatflow_id}?include_flow=true`],
      ['GET', '/api/v1/chatflows/export'],
      ['GET', `/api/v1/chatflows/${chatflow_id}/diff?from=3&to=live`],
      ['POST', '/api/v1/patches/compile', { chatflow_id, ops: LABEL }],
      ['POST', '/api/v1/chatflows/validate', { chatflow_id }],
    ];
    for (const request of requests) expect(leaks(await overHttp(...request)), request[1]).toEqual([]);
    expect(await leaksAround()).toEqual([]);
  });

  it('[FLR-secrets-come-back] a restore and a promotion bring every secret along, byte for byte', async () => {
    const { id: chatflow_id, text, settings } = planted();
    await scene.ask('chatflow.sync');
    fake.rows.editInCanvas(chatflow_id, (flow: Any) => {
      for (const node of flow.nodes) node.data.inputs = {};
    });
    await scene.ask('chatflow.restore', { chatflow_id, version: '1' });
    const bare = (flowData: string | undefined) => {
      const { flowright: _, ...flow } = JSON.parse(flowData ?? '{}');
      return JSON.stringify(flow);
    };
    expect(bare(fake.rows.chatflows.get(chatflow_id)?.flowData)).toBe(text);
    await scene.ask('chatflow.promote', { chatflow_id, to_server: 'second' });
    const [there] = [...second.rows.chatflows.values()];
    expect(bare(there?.flowData)).toBe(text);
    expect(there).toMatchObject(settings);
  });

  describe('[FLR-no-secret-anywhere] a secret that somebody sends', () => {
    it('is not quoted when it is refused, and is not kept', async () => {
      const { chatflow_id } = await change(scene, CONVERSATION_OPS, { name: 'Talk' });
      const secret = () => secrets.shaped();
      const set = (param_name: string, value: unknown) => [
        { op_type: 'set_param', node_id: 'chatOpenAI_0', param_name, value },
      ];
      const lists: Any[][] = [
        set('temperature', secret()),
        set('imageResolution', secret()),
        set('baseOptions', secret()),
        set(secret(), 'x'),
        [{ op_type: 'set_param', node_id: secret(), param_name: 'temperature', value: 1 }],
        [{ op_type: 'add_node', node_name: secret(), node_id: 'a_0' }],
        [{ op_type: 'add_node', node_name: 'bufferMemory', node_id: 'b_1', params: { [secret()]: secret() } }],
        [{ op_type: 'bind_credential', node_id: 'chatOpenAI_0', credential_id: secret() }],
        [{ op_type: 'remove_node', node_id: secret() }],
        [
          {
            op_type: 'connect',
            source_node_id: 'chatOpenAI_0',
            source_anchor: secret(),
            target_node_id: 'conversationChain_0',
            target_anchor: secret(),
          },
        ],
        [{ op_type: 'add_node', node_name: 'bufferMemory', node_id: secret() }],
      ];
      for (const ops of lists) {
        const told = await everythingTold(['patch.compile', { chatflow_id, ops }]);
        expect(leaks(told), JSON.stringify(ops)).toEqual([]);
        const input = { chatflow_id, ops, base_hash: '0'.repeat(64), payload_hash: '0'.repeat(64) };
        expect(leaks(await everythingTold(['chatflow.apply', input])), JSON.stringify(ops)).toEqual([]);
      }
      expect(await leaksAround()).toEqual([]);
    });

    it('is written to the chatflow and shown nowhere', async () => {
      const { chatflow_id } = await change(scene, CONVERSATION_OPS, { name: 'Talk' });
      const headers = { headers: { Authorization: `Bearer ${secrets.plain()}` } };
      const ops = [
        { op_type: 'set_param', node_id: 'chatOpenAI_0', param_name: 'baseOptions', value: headers },
        {
          op_type: 'set_param',
          node_id: 'chatOpenAI_0',
          param_name: 'basepath',
          value: `https://u:${secrets.plain()}@llm.example/v1`,
        },
        { op_type: 'set_label', node_id: 'bufferMemory_0', label: secrets.shaped() },
      ];
      const { base_hash, payload_hash } = await scene.ask('patch.compile', { chatflow_id, ops });
      const told = [
        await everythingTold(['patch.compile', { chatflow_id, ops }]),
        await everythingTold(['chatflow.apply', { chatflow_id, ops, base_hash, payload_hash }]),
        await everythingTold(['chatflow.diff', { chatflow_id, from: '1' }]),
        await everythingTold(['chatflow.history', { chatflow_id }]),
      ];
      expect(leaks(told.join('\n'))).toEqual([]);
      expect(fake.rows.chatflows.get(chatflow_id)?.flowData.match(PLANTED)).toHaveLength(3);
      expect(await leaksAround()).toEqual([]);
    });

    it('is not quoted when the server quotes it', async () => {
      const { chatflow_id } = await change(scene, CONVERSATION_OPS, { name: 'Talk' });
      const words = `Cannot store {"apiKey":"${secrets.plain()}"} with ${secrets.shaped()}, Bearer ${secrets.plain()}1, ${fake.apiKey}`;
      fake.fault('*', '*', { kind: 'answer', status: 500, body: { message: words } });
      const asked: Asked[] = [
        ['chatflow.list', {}],
        ['chatflow.sync', {}],
        ['chatflow.restore', { chatflow_id, version: '1' }],
        ['patch.compile', { chatflow_id, ops: [] }],
        ['knowledge.refresh', { templates: true, credentials: true }],
        ['server.test', {}],
      ];
      for (const each of asked) {
        const told = await everythingTold(each);
        expect([leaks(told), told.includes(fake.apiKey)], each[0]).toEqual([[], false]);
      }
      expect(await leaksAround()).toEqual([]);
    });
  });

  it('[FLR-no-secret-anywhere] a secret that names a chatflow is in no answer', async () => {
    const { id: chatflow_id } = fake.rows.addChatflow({
      name: `Bot ${secrets.shaped()}`,
      category: secrets.shaped(),
      flowData: { nodes: [], edges: [] },
    });
    const asked: Asked[] = [
      ['chatflow.sync', {}],
      ['chatflow.list', {}],
      ['chatflow.get', { chatflow_id }],
      ['chatflow.history', { chatflow_id }],
      ['chatflow.export', {}],
      ['chatflow.restore', { chatflow_id, version: '1' }],
      ['chatflow.promote', { chatflow_id, to_server: 'second' }],
      ['audit.list', {}],
    ];
    for (const each of asked) expect(leaks(await everythingTold(each)), each[0]).toEqual([]);
    expect([...second.rows.chatflows.values()][0]?.name).toMatch(PLANTED);
    expect(leaks(inspect(lines, { depth: 20 }))).toEqual([]);
  });

  it('[FLR-hidden-never-written] a flow that holds the sign of a hidden secret is refused as it is', async () => {
    const { chatflow_id } = await change(scene, CONVERSATION_OPS, { name: 'Talk' });
    fake.rows.editInCanvas(chatflow_id, (flow: Any) => {
      flow.nodes[0].data.inputs.baseOptions = JSON.stringify({
        headers: { Authorization: `Bearer ${secrets.plain()}` },
      });
      flow.nodes[1].data.label = `Memory ${secrets.shaped()}`;
    });
    const text = fake.rows.chatflows.get(chatflow_id)?.flowData;
    const { flow } = await scene.ask('chatflow.get', { chatflow_id, include_flow: true });
    const { files } = await scene.ask('chatflow.export', { chatflow_id });
    const onlyLabel = JSON.parse(text ?? '');
    onlyLabel.nodes[1].data.label = flow.nodes[1].data.label;
    for (const draft of [flow, JSON.parse(files[0].content).flow, onlyLabel]) {
      const flow_data = JSON.stringify(draft);
      expect(flow_data).toContain('[secret]');
      const compiled = await scene.ask('patch.compile', { chatflow_id, flow_data });
      expect([compiled.ok, compiled.errors.map(({ code }: Any) => code)]).toEqual([
        false,
        expect.arrayContaining(['secret_hidden']),
      ]);
      const { base_hash, payload_hash } = compiled;
      const error = await scene.refusalOf('chatflow.apply', { chatflow_id, flow_data, base_hash, payload_hash });
      expect(error.code).toBe('PATCH_INVALID');
    }
    expect(fake.rows.chatflows.get(chatflow_id)?.flowData).toBe(text);
  });

  it.runIf(engine === 'sqlite')(
    '[FLR-no-secret-anywhere] the program exports none to files and prints none',
    async () => {
      const { id } = planted();
      const env = { FLOWISE_API_URL: fake.url, FLOWISE_API_KEY: fake.apiKey };
      const options = { home: store.home, databaseUrl: store.databaseUrl, env };
      const ends = await Promise.all([
        flowright(['chatflow', 'export', '--out', join(store.home, 'out')], options),
        flowright(['chatflow', 'get', id], options),
      ]);
      expect(ends.map(({ status, stderr }) => [status, stderr])).toEqual([
        [0, ''],
        [0, ''],
      ]);
      expect(filesUnder(join(store.home, 'out'))).toHaveLength(1);
      expect([leaks(JSON.stringify(ends)), await leaksAround()]).toEqual([[], []]);
    },
  );

  it.runIf(engine === 'sqlite')(
    '[FLR-digests-bounded] what a model is told of large answers is short and holds no secret',
    async () => {
      const { id: chatflow_id } = planted();
      for (let at = 0; at < 1_000; at += 1) {
        fake.rows.addChatflow({
          name: `Bot ${at} ${'long '.repeat(30)}${secrets.shaped()}`,
          flowData: '{"nodes":[],"edges":[]}',
        });
      }
      const asked: Asked[] = [
        ['chatflow.list', { limit: 200 }],
        ['chatflow.get', { chatflow_id, include_flow: true }],
        ['chatflow.validate', { chatflow_id }],
        ['chatflow.export', { limit: 200 }],
        ['chatflow.sync', {}],
        ['chatflow.history', { chatflow_id }],
        ['patch.compile', { flow_data: JSON.stringify(flowFullOfSecrets(secrets)) }],
        ['knowledge.status', {}],
        ['knowledge.refresh', { all: true }],
        ['knowledge.audit', {}],
        ['server.list', {}],
      ];
      for (const [name, input] of asked) {
        const operation = await operationNamed(name);
        const { summary, facts, artifacts } = toToolResult(name, await scene.ask(name, input), {
          digest: operation.digest,
        } as Any);
        expect(summary.length, name).toBeLessThanOrEqual(DIGEST_CHARS);
        expect(summary.length, name).toBeGreaterThan(5);
        expect(leaks(summary + JSON.stringify([facts, artifacts])), name).toEqual([]);
        expect(JSON.stringify([facts, artifacts]).length, name).toBeLessThan(100_000);
      }
      const operation = await operationNamed('chatflow.diff');
      fake.rows.editInCanvas(chatflow_id, (flow: Any) => flow.nodes.splice(0, 200));
      const { summary } = toToolResult('chatflow.diff', await scene.ask('chatflow.diff', { chatflow_id }), {
        digest: operation.digest,
      } as Any);
      expect([summary.length <= DIGEST_CHARS, summary.includes('NODES REMOVED'), leaks(summary)]).toEqual([
        true,
        true,
        [],
      ]);
    },
  );
});
