import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/kernel/hash.ts';
import { snapshotPaths } from '../../src/knowledge/snapshot-file.ts';
import { updateSnapshot } from '../../src/knowledge/snapshot-update.ts';
import { recordedNodes } from '../support/fake-flowise/index.ts';
import { BASELINE_NODES, knowledgeScene, writeBaseline } from '../support/knowledge.ts';
import { ROOT } from '../support/program.ts';

const NEW = 'toolAgent';

describe('node schemas', () => {
  it('that are known make no request [S000-E1-local-first] [S000-B2-node-key] [S000-H2-synchronous-reads]', async () => {
    const scene = await knowledgeScene();
    const session = scene.provider().openSession();
    expect((await session.getNodeSchema('chatOpenAI'))?.label).toBeTruthy();
    expect((await session.getNodeSchema('pinecone'))?.has_output_choice).toBe(true);
    expect((await session.getNodeSchema('ChatOpenAI'))?.node_type).toBe('chatOpenAI');
    expect(session.nodes.get('searchAPI')?.node_type).toBe('searchAPI');
    expect(session.nodes.get('SEARCHAPI')).toBeNull();
    expect(session.nodes.names()).toEqual(expect.arrayContaining(BASELINE_NODES));
    expect(session.suggestNodes('chatOpenIA')).toContain('chatOpenAI');
    expect(scene.fake.requests.count()).toBe(0);
    expect(existsSync(scene.folder)).toBe(false);
  });

  it('come with the program for the nodes of an ordinary chatflow [S000-E1-local-first]', async () => {
    const scene = await knowledgeScene();
    const session = scene.provider({ baselineDir: join(ROOT, 'schemas') }).openSession();
    for (const { name } of recordedNodes()) expect((await session.getNodeSchema(name))?.node_type).toBe(name);
    expect(session.warnings).toEqual([]);
    expect(scene.fake.requests.count()).toBe(0);
  });

  it('that are unknown make exactly one request and are local from then on, also for others [S000-E2-one-repair] [S000-E2-log-line] [S000-D4-meta]', async () => {
    const scene = await knowledgeScene();
    const session = scene.provider().openSession();
    const [one, two] = await Promise.all([session.getNodeSchema(NEW), session.getNodeSchema(NEW)]);
    expect(one?.node_type).toBe(NEW);
    expect(two).toBe(one);
    await session.getNodeSchema(NEW);
    expect(session.repairEvents).toEqual([
      { kind: 'node', node_type: NEW, timestamp: scene.clock.now().toISOString(), action: 'repaired' },
    ]);
    expect(session.nodes.get(NEW)).toBe(one);
    expect(scene.fake.requests.count()).toBe(1);
    expect(scene.fake.requests.count('GET', `/nodes/${NEW}`)).toBe(1);

    const { snapshot, meta } = scene.bytes('flowise_nodes');
    const items = JSON.parse(snapshot) as { node_type: string }[];
    expect(items.map(({ node_type }) => node_type).at(-1)).toBe(NEW);
    expect(items).toHaveLength(BASELINE_NODES.length + 1);
    expect(JSON.parse(meta)).toMatchObject({
      sha256: sha256Hex(snapshot),
      item_count: items.length,
      source_host: scene.host,
      repaired: [{ id: NEW }],
    });
    expect(scene.lines).toEqual([
      expect.objectContaining({ message: '[knowledge] repaired snapshot: added toolAgent from API' }),
    ]);

    const later = scene.provider().openSession();
    expect((await later.getNodeSchema(NEW))?.node_type).toBe(NEW);
    expect((await later.getNodeSchema('chatOpenAI'))?.node_type).toBe('chatOpenAI');
    expect(scene.fake.requests.count()).toBe(1);
  });

  it('that do not exist make one request a session [S000-E2-not-found-once] [S000-E5-state-keys]', async () => {
    const scene = await knowledgeScene();
    const session = scene.provider().openSession();
    expect(await session.getNodeSchema('chatOpenAj')).toBeNull();
    expect(await session.getNodeSchema('chatOpenAj')).toBeNull();
    expect(scene.fake.requests.count('GET', '/nodes/:name')).toBe(1);
    expect(scene.fake.requests.count()).toBe(1);
    expect(session.state().debug.flowise.knowledge_repair_events).toEqual([
      { kind: 'node', node_type: 'chatOpenAj', timestamp: scene.clock.now().toISOString(), action: 'not_found' },
    ]);
    expect(await session.getNodeSchema('../chatflows')).toBeNull();
    expect(scene.fake.requests.count()).toBe(1);
    expect(existsSync(scene.folder)).toBe(false);
  });

  it('are repaired silently when that is asked for [S000-E2-log-line]', async () => {
    const scene = await knowledgeScene();
    const session = scene.provider({ repairLog: false }).openSession();
    expect((await session.getNodeSchema(NEW))?.node_type).toBe(NEW);
    expect(scene.lines).toEqual([]);
    expect(session.repairEvents).toHaveLength(1);
  });

  it('lose no repair when two processes write at once [FLR-knowledge-merge-under-lock]', async () => {
    const scene = await knowledgeScene();
    const names = recordedNodes()
      .map(({ name }) => name)
      .filter((name) => !BASELINE_NODES.includes(name))
      .slice(0, 8);
    const sessions = [scene.provider().openSession(), scene.provider().openSession()];
    await Promise.all(names.map((name, at) => sessions[at % 2]?.getNodeSchema(name)));
    const reading = scene.read('flowise_nodes');
    const known = reading.state === 'ok' ? reading.items.map((item) => (item as { node_type: string }).node_type) : [];
    expect(new Set(known)).toEqual(new Set([...BASELINE_NODES, ...names]));
    expect(scene.fake.requests.count()).toBe(names.length);
  });

  it('are refreshed whole when the snapshot lost its fingerprint, before anything is answered [S000-E3-mismatch-refreshes]', async () => {
    const scene = await knowledgeScene();
    await scene.provider().openSession().getNodeSchema(NEW);
    const { snapshot } = snapshotPaths(scene.folder, 'flowise_nodes');
    writeFileSync(snapshot, readFileSync(snapshot, 'utf8').replaceAll('"Chat Models"', '"Spoilt"'));
    scene.fake.requests.clear();
    const session = scene.provider().openSession();
    expect((await session.getNodeSchema('chatOpenAI'))?.category).toBe('Chat Models');
    expect(scene.fake.requests.count('GET', '/nodes')).toBe(1);
    expect(scene.fake.requests.count('GET', '/nodes/:name')).toBe(0);
    expect(session.warnings.map(({ code }) => code)).toEqual(['SNAPSHOT_INVALID']);
    expect(session.nodes.names()).toHaveLength(recordedNodes().length);
    const reading = scene.read('flowise_nodes');
    expect(reading).toMatchObject({ state: 'ok', meta: { source: 'flowise_api', flowise_version: '3.1.4' } });
    await scene.provider().openSession().getNodeSchema('chatOpenAI');
    expect(scene.fake.requests.count('GET', '/nodes')).toBe(1);
  });

  it('come from the program when the file is broken and the server is down [FLR-knowledge-last-good]', async () => {
    for (const spoil of ['half-written meta', 'wrong host', 'not JSON'] as const) {
      const scene = await knowledgeScene();
      await scene.provider().openSession().getNodeSchema(NEW);
      const { snapshot, meta } = snapshotPaths(scene.folder, 'flowise_nodes');
      if (spoil === 'half-written meta') writeFileSync(meta, readFileSync(meta, 'utf8').slice(0, 40));
      if (spoil === 'wrong host') writeFileSync(meta, readFileSync(meta, 'utf8').replace(scene.host, 'http://other:1'));
      if (spoil === 'not JSON') writeFileSync(snapshot, '[{"node_type": "chatOp');
      const before = [readFileSync(snapshot, 'utf8'), readFileSync(meta, 'utf8')];
      scene.fake.fault('*', '*', { kind: 'drop' });
      const session = scene.provider().openSession();
      expect((await session.getNodeSchema('chatOpenAI'))?.node_type).toBe('chatOpenAI');
      expect(await session.getNodeSchema(NEW)).toBeNull();
      expect(session.warnings.map(({ code }) => code)).toEqual([
        'SNAPSHOT_INVALID',
        'FLOWISE_UNREACHABLE',
        'FLOWISE_UNREACHABLE',
      ]);
      expect(session.repairEvents).toEqual([expect.objectContaining({ action: 'fetch_error' })]);
      expect([readFileSync(snapshot, 'utf8'), readFileSync(meta, 'utf8')]).toEqual(before);
    }
  });

  it('remember for the session that the server could not be asked [S000-E2-not-found-once] [FLR-knowledge-last-good]', async () => {
    const scene = await knowledgeScene();
    scene.fake.fault('GET', '/nodes/:name', { kind: 'answer', status: 403, body: '{"message":"no"}' });
    const session = scene.provider().openSession();
    expect(await session.getNodeSchema(NEW)).toBeNull();
    expect(await session.getNodeSchema(NEW)).toBeNull();
    expect(scene.fake.requests.count()).toBe(1);
    scene.fake.heal();
    expect(await session.getNodeSchema(NEW)).toBeNull();
    expect((await scene.provider().openSession().getNodeSchema(NEW))?.node_type).toBe(NEW);
  });

  it('that cannot be kept on disk are still answered [FLR-knowledge-last-good]', async () => {
    const scene = await knowledgeScene();
    const blocked = `${scene.baselineDir}/flowise_nodes.meta.json/below`;
    const session = scene.provider({ folder: blocked }).openSession();
    expect((await session.getNodeSchema(NEW))?.node_type).toBe(NEW);
    expect(session.nodes.get(NEW)?.node_type).toBe(NEW);
    await session.getNodeSchema(NEW);
    expect(scene.fake.requests.count()).toBe(1);
    expect(session.repairEvents).toEqual([expect.objectContaining({ action: 'repaired', detail: 'not kept on disk' })]);
    expect(scene.lines[0]?.fields.code).toBe('SNAPSHOT_INVALID');
  });

  it('of a newer program are not hidden by repairs of an older one [FLR-knowledge-last-good]', async () => {
    const scene = await knowledgeScene();
    await scene.provider().openSession().getNodeSchema(NEW);
    await writeBaseline(scene.baselineDir, [...BASELINE_NODES, 'conversationalAgent']);
    const session = scene.provider().openSession();
    for (let round = 0; round < 2; round += 1) {
      expect(session.nodes.get('conversationalAgent')?.node_type).toBe('conversationalAgent');
      expect(session.nodes.get(NEW)?.node_type).toBe(NEW);
      await session.getNodeSchema('openAIEmbeddings');
    }
  });

  it('written by another process are seen by the next session [S000-E3-mismatch-refreshes]', async () => {
    const scene = await knowledgeScene();
    const provider = scene.provider();
    expect(provider.openSession().nodes.get(NEW)).toBeNull();
    await scene.provider().openSession().getNodeSchema(NEW);
    expect(provider.openSession().nodes.get(NEW)?.node_type).toBe(NEW);
    expect(scene.fake.requests.count()).toBe(1);
  });

  it('that the server has no more are not resolved [FLR-knowledge-removed-not-resolved]', async () => {
    const scene = await knowledgeScene();
    await scene.provider().openSession().getNodeSchema(NEW);
    await updateSnapshot(scene.folder, 'flowise_nodes', (current) => {
      if (current.state !== 'ok') return null;
      const { source = '', source_host = null, flowise_version = null } = current.meta;
      const items = current.items;
      return { items, source, source_host, flowise_version, generated_at: 'x', removed: ['pinecone'] };
    });
    const session = scene.provider().openSession();
    expect(session.nodes.get('pinecone')).toBeNull();
    // Asked for by name, it turns out to be there after all.
    expect((await session.getNodeSchema('pinecone'))?.node_type).toBe('pinecone');
    const reading = scene.read('flowise_nodes');
    expect(reading.state === 'ok' && reading.meta.removed).toBeUndefined();
  });

  it('cannot be changed by who reads them [FLR-knowledge-frozen]', async () => {
    const scene = await knowledgeScene();
    const session = scene.provider().openSession();
    const node = await session.getNodeSchema('chatOpenAI');
    expect(() => Object.assign(node?.input_params[0] ?? {}, { name: 'x' })).toThrow(TypeError);
    expect(() => node?.baseClasses.push('x')).toThrow(TypeError);
    expect(() => (session.nodes.names() as string[]).push('x')).toThrow(TypeError);
  });

  it('tell how a node is connected, made from the node itself [S000-D1-node-entry]', async () => {
    const scene = await knowledgeScene();
    const provider = scene.provider();
    const anchors = provider.anchors('conversationChain');
    expect(anchors?.inputs).toContainEqual({ name: 'model', types: ['BaseChatModel'], optional: false, list: false });
    expect(provider.anchors(NEW)).toBeNull();
    await provider.openSession().getNodeSchema(NEW);
    expect(provider.anchors(NEW)?.inputs).toContainEqual(expect.objectContaining({ name: 'tools', list: true }));
  });
});

describe('a provider', () => {
  it('touches nothing until it is asked, and starts nothing [S000-B1-no-io-until-asked]', async () => {
    const scene = await knowledgeScene();
    const handles = process.getActiveResourcesInfo().length;
    const provider = scene.provider();
    const session = provider.openSession();
    expect(process.getActiveResourcesInfo()).toHaveLength(handles);
    expect(scene.fake.requests.count()).toBe(0);
    // What was written only now would not be seen by one that had read before; this look does not check for changes.
    await writeBaseline(scene.folder, [NEW]);
    expect(provider.nodeSchemas.get(NEW)?.node_type).toBe(NEW);
    expect(session.nodes.names()).toEqual([NEW]);
    expect(scene.fake.requests.count()).toBe(0);
    expect(Object.getPrototypeOf(Object.getPrototypeOf(provider))).toBe(Object.prototype);
  });

  it('without any snapshot fetches each node when it is needed [S000-E2-one-repair]', async () => {
    const scene = await knowledgeScene();
    const session = scene.provider({ baselineDir: `${scene.baselineDir}/none` }).openSession();
    expect((await session.getNodeSchema('chatOpenAI'))?.node_type).toBe('chatOpenAI');
    expect(session.nodes.names()).toEqual(['chatOpenAI']);
    expect(scene.fake.requests.count()).toBe(1);
  });
});
