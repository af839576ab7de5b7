import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChatflowScene, CONVERSATION_OPS, change, openChatflowScene } from '../support/chatflow-scene.ts';
import { makeStore, type TestStore } from '../support/databases.ts';
import { type FakeFlowise, type Fault, startFakeFlowise } from '../support/fake-flowise/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: flows and answers of every shape
type Any = any;

const MB = 1_048_576;
const LABEL = [{ op_type: 'set_label', node_id: 'chatOpenAI_0', label: 'Other' }];
const ESCAPES = 'Na\u001b[31mme\u001b]0;owned\u0007\r\nrm -rf\u202e';

let store: TestStore;
let fake: FakeFlowise;
let scene: ChatflowScene;

beforeEach(async () => {
  store = await makeStore('sqlite');
  fake = await startFakeFlowise({ credentials: [{ name: 'our key', credentialName: 'openAIApi' }] });
  scene = await openChatflowScene(store, [fake]);
});

afterEach(async () => {
  await scene.close();
  await fake.close();
  await store.remove();
});

const make = async (): Promise<string> => (await change(scene, CONVERSATION_OPS, { name: 'Talk' })).chatflow_id;
const snapshots = (): Record<string, string> => {
  const folder = join(store.home, 'schemas', 'default');
  const files = readdirSync(folder).filter((name) => /\.(snapshot|meta)\.json$/.test(name));
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
};
const snapshotPath = (name: string) => join(store.home, 'schemas', 'default', name);
const codeOf = async (operation: string, input: Record<string, unknown>): Promise<string> => {
  const error = await scene.refusalOf(operation, input);
  expect(error === null || error.message.length < 2_000, operation).toBe(true);
  return error === null ? 'ok' : error.code;
};
/** How it went, how long it took and by how much the process grew. */
const measured = async <T>(work: () => Promise<T>) => {
  const [began, memory] = [performance.now(), process.memoryUsage().rss];
  const result = await work();
  return { result, seconds: (performance.now() - began) / 1_000, grown: (process.memoryUsage().rss - memory) / MB };
};
const CONTROL = /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;
const rendered = async (name: string, payload: Any): Promise<string> => {
  const operations = await scene.app.catalogue.inNamespace(name.split('.')[0] as string);
  const { cli } = operations.find((operation) => operation.name === name) as Any;
  return cli.render(payload);
};

describe('[FLR-flowise-bad-server] a server', () => {
  const page = '<html><body>Something broke</body></html>';
  type Manner = Fault | 'another key' | 'no permission';
  const manners: [string, Manner, string][] = [
    ['whose key this is not', 'another key', 'FLOWISE_UNAUTHORIZED'],
    ['that permits the key nothing', 'no permission', 'FLOWISE_FORBIDDEN'],
    ['that answers 500 with a page', { kind: 'answer', status: 500, body: page }, 'FLOWISE_REFUSED'],
    ['that answers 200 with a page', { kind: 'answer', status: 200, body: page }, 'FLOWISE_BAD_ANSWER'],
    ['that answers something else', { kind: 'answer', status: 200, body: { nodes: 'many' } }, 'FLOWISE_BAD_ANSWER'],
    ['that hangs', { kind: 'hang' }, 'FLOWISE_TIMEOUT'],
    ['that breaks off', { kind: 'drop' }, 'FLOWISE_UNREACHABLE'],
    ['that sends 100 MB', { kind: 'flood', bytes: 100 * MB }, 'FLOWISE_BAD_ANSWER'],
  ];
  /** The program as it is with a server of this manner. */
  const meet = async (manner: Manner): Promise<void> => {
    const isHang = typeof manner === 'object' && manner.kind === 'hang';
    if (manner === 'another key' || isHang) {
      await scene.close();
      const apiKey = isHang ? fake.apiKey : `not-${fake.apiKey}`;
      scene = await openChatflowScene(store, [{ ...fake, apiKey }], { env: isHang ? { FLOWISE_TIMEOUT: '1' } : {} });
    }
    if (manner === 'no permission') fake.permit([]);
    else if (manner !== 'another key') fake.fault('*', '*', manner);
  };

  it('gives every operation a code in time, and nothing that was known is lost', async () => {
    const chatflow_id = await make();
    await scene.ask('knowledge.refresh', { all: true, from_api: true });
    const before = snapshots();
    const hashes = { base_hash: '0'.repeat(64), payload_hash: '0'.repeat(64) };
    const asked: [string, Record<string, unknown>][] = [
      ['chatflow.list', {}],
      ['chatflow.get', { chatflow_id }],
      ['chatflow.validate', { chatflow_id }],
      ['chatflow.diff', { chatflow_id }],
      ['chatflow.export', {}],
      ['chatflow.sync', {}],
      ['chatflow.restore', { chatflow_id, version: '1' }],
      ['patch.compile', { chatflow_id, ops: LABEL }],
      ['chatflow.apply', { chatflow_id, ops: LABEL, ...hashes }],
    ];
    for (const [name, manner, code] of manners) {
      await meet(manner);
      const { result, seconds, grown } = await measured(async () => {
        const codes = asked.map(async ([operation, input]) => [operation, await codeOf(operation, input)]);
        const refreshed = scene.ask('knowledge.refresh', { templates: true, credentials: true });
        return { codes: Object.fromEntries(await Promise.all(codes)), refreshed: await refreshed };
      });
      expect(result.codes, name).toEqual(Object.fromEntries(asked.map(([operation]) => [operation, code])));
      expect([name, result.refreshed.exit_code]).toEqual([name, 2]);
      expect([name, seconds < 20, grown < 700]).toEqual([name, true, true]);
      expect(snapshots(), name).toEqual(before);
      expect(await codeOf('chatflow.history', { chatflow_id }), name).toBe('ok');
      expect(await codeOf('patch.compile', { ops: CONVERSATION_OPS.slice(0, 5) }), name).toBe('ok');
      fake.heal();
      fake.permit(null);
      if (manner === 'another key' || code === 'FLOWISE_TIMEOUT') {
        await scene.close();
        scene = await openChatflowScene(store, [fake]);
      }
    }
    await change(scene, LABEL, { chatflow_id });
  });

  it('that is not there, or has no name, is told so', async () => {
    await fake.close();
    for (const url of [fake.url, 'http://no-such-host.invalid']) {
      const other = await openChatflowScene(store, [{ ...fake, url }]);
      const error = await other.refusalOf('chatflow.list');
      await other.close();
      expect([error.code, error.status]).toEqual(['FLOWISE_UNREACHABLE', 502]);
    }
    fake = await startFakeFlowise();
  });
});

it('[FLR-flowise-bad-snapshot] a damaged snapshot is not used, is told, does not stop work, and is replaced', async () => {
  await scene.ask('knowledge.refresh', { nodes: true, from_api: true });
  const good = snapshots();
  const damages: [string, string][] = [
    ['flowise_nodes.snapshot.json', '[{"node_type":"chatOpenAI"}]'],
    ['flowise_nodes.snapshot.json', '[{"node_ty'],
    ['flowise_nodes.meta.json', '{"generated_at":"2026-'],
    ['flowise_nodes.meta.json', ''],
    ['flowise_nodes.meta.json', '[]'],
  ];
  for (const [name, content] of damages) {
    for (const [file, text] of Object.entries(good)) writeFileSync(snapshotPath(file), text);
    writeFileSync(snapshotPath(name), content);
    const { exit_code } = await scene.ask('knowledge.refresh', { nodes: true, validate: true });
    expect([content, exit_code]).toEqual([content, 1]);
    expect((await scene.ask('patch.compile', { ops: CONVERSATION_OPS })).ok, content).toBe(true);
  }
  await scene.ask('knowledge.refresh', { nodes: true, from_api: true });
  const [now, then] = [snapshots(), good].map((files) => JSON.parse(files['flowise_nodes.snapshot.json'] ?? ''));
  expect(now).toEqual(then);
  expect((await scene.ask('knowledge.refresh', { nodes: true, validate: true })).exit_code).toBe(0);
});

describe('[FLR-flowise-large-flow] a flow', () => {
  const tool = (at: number) => ({
    id: `calculator_${at}`,
    type: 'customNode',
    position: { x: at, y: 0 },
    data: {
      id: `calculator_${at}`,
      name: 'calculator',
      label: `Calculator ${at}`,
      version: 1,
      category: 'Tools',
      baseClasses: ['Calculator', 'Tool'],
      inputs: { note: 'x'.repeat(300) },
      inputParams: [],
      inputAnchors: [],
      outputAnchors: [
        {
          id: `calculator_${at}-output-calculator-Calculator|Tool`,
          name: 'calculator',
          label: 'Calculator',
          type: 'Calculator | Tool',
        },
      ],
      outputs: {},
    },
  });
  const large = () => ({
    nodes: Array.from({ length: 5_000 }, (_, at) => tool(at)),
    edges: [],
    viewport: { x: 0, y: 0, zoom: 1 },
  });

  it('of 5,000 nodes is compiled, judged, shown, exported and kept in bounded time and memory', async () => {
    const { id: chatflow_id } = fake.rows.addChatflow({ name: 'Large', flowData: large() as Any });
    const flow_data = JSON.stringify(large());
    const ops = [{ op_type: 'set_label', node_id: 'calculator_4999', label: 'Last' }];
    const { result, seconds, grown } = await measured(async () => {
      const compiled = await scene.ask('patch.compile', { chatflow_id, ops });
      const { base_hash, payload_hash } = compiled;
      await scene.ask('chatflow.apply', { chatflow_id, ops, base_hash, payload_hash });
      return {
        compiled,
        draft: await scene.ask('patch.compile', { flow_data }),
        judged: await scene.ask('chatflow.validate', { flow_data }),
        shown: await scene.ask('chatflow.get', { chatflow_id, include_flow: true }),
        exported: await scene.ask('chatflow.export', {}),
        synced: await scene.ask('chatflow.sync'),
        diff: await scene.ask('chatflow.diff', { chatflow_id, from: '1', to: 'live' }),
      };
    });
    expect([result.compiled.ok, result.compiled.node_count]).toEqual([true, 5_000]);
    expect([result.draft.node_count, result.draft.errors.length <= 201]).toEqual([5_000, true]);
    expect(result.judged.errors.length).toBeLessThanOrEqual(201);
    expect([result.shown.nodes.length, result.exported.count, result.synced.looked_at]).toEqual([5_000, 1, 1]);
    expect(result.diff.diff.nodes_changed).toHaveLength(1);
    expect(seconds).toBeLessThan(40);
    expect(grown).toBeLessThan(1_000);
  });

  it('of 5,000 nodes in a template leaves the template findable and its snapshot small', async () => {
    fake.world.templates.push({ templateName: 'Vast', type: 'Chatflow', flowData: JSON.stringify(large()) });
    const { result, seconds } = await measured(() => scene.ask('knowledge.refresh', { templates: true }));
    expect([result.exit_code, seconds < 40]).toEqual([0, true]);
    const kept = readFileSync(snapshotPath('flowise_templates.snapshot.json'), 'utf8');
    expect([kept.includes('Vast'), kept.length < MB]).toEqual([true, true]);
  });

  it('of 20 MB or more is refused with a code', async () => {
    const almost = JSON.stringify({ nodes: [], edges: [], note: 'x'.repeat(19_900_000) });
    const over = JSON.stringify({ nodes: [], edges: [], note: 'x'.repeat(21 * MB) });
    const { seconds } = await measured(async () => {
      const compiled = await scene.ask('patch.compile', { flow_data: almost });
      expect([compiled.ok, compiled.node_count]).toEqual([true, 0]);
      expect(await codeOf('patch.compile', { flow_data: over })).toBe('BAD_REQUEST');
      expect(await codeOf('chatflow.validate', { flow_data: over })).toBe('BAD_REQUEST');
      const input = { name: 'Large', flow_data: almost, payload_hash: '0'.repeat(64) };
      expect(await codeOf('chatflow.apply', input)).toBe('payload_mismatch');
    });
    expect([fake.rows.chatflows.size, seconds < 40]).toEqual([0, true]);
  });

  it('of 20 MB on the server is listed, and judged as one that cannot be read', async () => {
    const { id } = fake.rows.addChatflow({
      name: 'Heavy',
      flowData: `{"nodes":[],"edges":[],"x":"${'x'.repeat(21 * MB)}"}`,
    });
    expect((await scene.ask('chatflow.list')).items).toMatchObject([{ name: 'Heavy', node_count: 0 }]);
    expect((await scene.ask('chatflow.validate', { chatflow_id: id })).valid).toBe(false);
    const { ok, errors } = await scene.ask('patch.compile', { chatflow_id: id, ops: LABEL });
    expect([ok, errors[0].code]).toEqual([false, 'too_big']);
  });

  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  it.each([
    ['flow_data nested 100,000 deep', deep(100_000), 'invalid_type'],
    ['a field nested 100,000 deep', `{"nodes":[],"edges":[],"x":${deep(100_000)}}`, 'too_deep'],
    [
      'an input nested 5,000 deep',
      `{"nodes":[{"id":"a","data":{"inputs":{"x":${deep(5_000)}}}}],"edges":[]}`,
      'too_deep',
    ],
    ['no JSON', '{"nodes":[', 'invalid_json'],
    ['null', 'null', 'invalid_type'],
    ['a blank', ' ', 'invalid_json'],
  ])('%s is no flow, for any operation', async (_, flow_data, code) => {
    const { ok, errors } = await scene.ask('patch.compile', { flow_data });
    expect([ok, errors[0].code]).toEqual([false, code]);
    const judged = await scene.ask('chatflow.validate', { flow_data });
    expect([judged.valid, judged.errors[0].code]).toEqual([false, code]);
    const { id: chatflow_id } = fake.rows.addChatflow({ name: 'Odd', flowData: flow_data });
    expect((await scene.ask('chatflow.get', { chatflow_id, include_flow: true })).node_count).toBe(0);
    expect((await scene.ask('chatflow.sync')).recorded).toHaveLength(1);
    expect((await scene.ask('chatflow.export')).count).toBe(1);
    fake.rows.chatflows.delete(chatflow_id);
    await scene.ask('chatflow.sync');
    expect(await codeOf('chatflow.restore', { chatflow_id, version: '1' })).toBe('PATCH_INVALID');
  });
});

describe('[FLR-flowise-hostile-names] operations', () => {
  const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'];

  it('that name what every object has are refused like any other mistake, and change no object', async () => {
    const chatflow_id = await make();
    const text = fake.rows.chatflows.get(chatflow_id)?.flowData;
    for (const name of NAMES) {
      const own = JSON.parse(`{"${name}":{"polluted":1}}`);
      const lists: Any[][] = [
        [{ op_type: 'add_node', node_name: name, node_id: 'a_0' }],
        [
          { op_type: 'add_node', node_name: 'bufferMemory', node_id: name, params: {} },
          { op_type: 'remove_node', node_id: `${name}x` },
        ],
        // A key that is no parameter of any node is left out before anybody looks.
        ...(name === '__proto__'
          ? []
          : [[{ op_type: 'add_node', node_name: 'bufferMemory', node_id: 'b_9', params: own }]]),
        [{ op_type: 'set_param', node_id: 'chatOpenAI_0', param_name: name, value: own }],
        [{ op_type: 'set_param', node_id: name, param_name: 'temperature', value: 1 }],
        [{ op_type: 'remove_node', node_id: name }],
        [
          {
            op_type: 'connect',
            source_node_id: 'chatOpenAI_0',
            source_anchor: name,
            target_node_id: 'conversationChain_0',
            target_anchor: name,
          },
        ],
      ];
      for (const ops of lists)
        expect((await scene.ask('patch.compile', { chatflow_id, ops })).ok, JSON.stringify(ops)).toBe(false);
      const bind = [{ op_type: 'bind_credential', node_id: 'chatOpenAI_0', credential_id: name }];
      expect((await scene.ask('patch.compile', { chatflow_id, ops: bind })).ok).toBe(false);
      expect(await codeOf('chatflow.restore', { chatflow_id, version: name })).toBe('NOT_FOUND');
      expect(await codeOf('chatflow.get', { chatflow_id: name })).toBe('FLOWISE_NOT_FOUND');
      expect(await codeOf('chatflow.list', { server: name })).toMatch(/BAD_REQUEST|FLOWISE_SERVER_UNKNOWN/);
    }
    expect([({} as Any).polluted, fake.rows.chatflows.get(chatflow_id)?.flowData]).toEqual([undefined, text]);
  });

  it('carry a value whose key is __proto__ as that, and nothing else', async () => {
    const chatflow_id = await make();
    fake.rows.editInCanvas(chatflow_id, (flow: Any) => {
      flow.nodes[0].data.inputs = JSON.parse(
        '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":1}}}',
      );
    });
    const shown = await scene.ask('chatflow.get', { chatflow_id, include_flow: true });
    await change(scene, LABEL, { chatflow_id });
    expect(JSON.stringify(shown.flow.nodes[0].data.inputs)).toContain('"__proto__":{"polluted":"yes"}');
    expect(fake.rows.chatflows.get(chatflow_id)?.flowData).toContain('"__proto__":{"polluted":"yes"}');
    expect(({} as Any).polluted).toBeUndefined();
  });

  it('with values nested 10,000 deep are refused with a code', async () => {
    const chatflow_id = await make();
    const value = JSON.parse(`${'['.repeat(10_000)}${']'.repeat(10_000)}`);
    const ops = [{ op_type: 'set_param', node_id: 'bufferMemory_0', param_name: 'memoryKey', value }];
    const { base_hash } = await scene.ask('patch.compile', { chatflow_id, ops: LABEL });
    const compile = await scene.refusalOf('patch.compile', { chatflow_id, ops });
    expect(compile === null || compile.status < 500).toBe(true);
    const error = await scene.refusalOf('chatflow.apply', {
      chatflow_id,
      ops,
      base_hash,
      payload_hash: '0'.repeat(64),
    });
    expect(error.status, error.code).toBeLessThan(500);
  });

  it('fit credentials that are called like what every object has', async () => {
    const second = await startFakeFlowise({ credentials: [{ name: 'constructor', credentialName: 'openAIApi' }] });
    await scene.close();
    fake.rows.credentials.clear();
    fake.rows.addCredential({ name: 'constructor', credentialName: 'openAIApi' });
    scene = await openChatflowScene(store, [fake, second]);
    const chatflow_id = await make();
    const { notes } = await scene.ask('chatflow.promote', { chatflow_id, to_server: 'second' });
    await second.close();
    expect(notes).toEqual(['Credential "constructor" became "constructor".']);
  });

  it('show names and ids with odd characters without obeying them, and write files of plain names', async () => {
    const odd = [
      'a-b',
      'a b',
      '../../etc',
      `x${ESCAPES}`,
      '__proto__',
      '{{a.data.instance}}',
      'é\u0000',
      'n'.repeat(5_000),
    ];
    const nodes = odd.map((id) => ({
      id,
      type: 'customNode',
      position: { x: 0, y: 0 },
      data: { id, name: ESCAPES, label: ESCAPES, category: ESCAPES, inputs: { [ESCAPES]: ESCAPES } },
    }));
    const edges = odd.map((id) => ({ id, source: id, target: ESCAPES, sourceHandle: id, targetHandle: ESCAPES }));
    const { id: chatflow_id } = fake.rows.addChatflow({
      name: ESCAPES,
      category: ESCAPES,
      flowData: { nodes, edges } as Any,
    });
    const payloads: [string, Any][] = [
      ['chatflow.sync', await scene.ask('chatflow.sync')],
      ['chatflow.list', await scene.ask('chatflow.list')],
      ['chatflow.get', await scene.ask('chatflow.get', { chatflow_id })],
      ['chatflow.validate', await scene.ask('chatflow.validate', { chatflow_id })],
      ['chatflow.history', await scene.ask('chatflow.history', { chatflow_id })],
      ['chatflow.export', await scene.ask('chatflow.export')],
      [
        'patch.compile',
        await scene.ask('patch.compile', { chatflow_id, ops: [{ op_type: 'remove_node', node_id: 'a-b' }] }),
      ],
    ];
    fake.rows.editInCanvas(chatflow_id, (flow: Any) => {
      flow.nodes.pop();
      for (const node of flow.nodes)
        Object.assign(node.data, { label: `${ESCAPES}!`, inputs: { [ESCAPES]: `${ESCAPES}\n2` } });
    });
    payloads.push(['chatflow.diff', await scene.ask('chatflow.diff', { chatflow_id })]);
    payloads.push(['chatflow.restore', await scene.ask('chatflow.restore', { chatflow_id, version: '1' })]);
    payloads.push(['chatflow.label', await scene.ask('chatflow.label', { chatflow_id, version: '1', label: 'good' })]);
    for (const [name, payload] of payloads) expect(await rendered(name, payload), name).not.toMatch(CONTROL);
    const { files } = await scene.ask('chatflow.export');
    expect(files[0].file_name).toMatch(/^[a-z0-9][a-z0-9.-]*\.json$/);
    expect(JSON.parse(fake.rows.chatflows.get(chatflow_id)?.flowData ?? '').nodes.map(({ id }: Any) => id)).toEqual(
      odd,
    );
  });

  it.each([['\u0000'], ['a\u0000b'], ['\ud800']])('refuse a name that cannot be kept: %j', async (name) => {
    const { payload_hash } = await scene.ask('patch.compile', { ops: CONVERSATION_OPS });
    expect(await codeOf('chatflow.apply', { name, ops: CONVERSATION_OPS, payload_hash })).toBe('BAD_REQUEST');
    expect(fake.rows.chatflows.size).toBe(0);
  });
});
