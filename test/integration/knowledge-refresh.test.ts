import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createKnowledge } from '../../src/knowledge/index.ts';
import { parseReference } from '../../src/knowledge/reference.ts';
import { ENGINES } from '../support/databases.ts';
import { tempFolder } from '../support/home.ts';
import { FIRST_DAY, refreshScene, SMALL_NODE, SMALL_REFERENCE, smallFlowise } from './refresh-scene.ts';

function smallReference(text = SMALL_REFERENCE): string {
  const path = join(tempFolder(), 'reference.md');
  writeFileSync(path, text);
  return path;
}

/** No baseline, and a reference of one node. */
const small = () => ({ reference: smallReference(), baselineDir: join(tempFolder(), 'none') });
const lineOf = (payload: { parts: { line: string }[] }) => payload.parts.map(({ line }) => line);
const CREDENTIALS = ['a', 'b', 'c', 'd'].map((name) => ({
  name: `Key ${name}`,
  credentialName: 'openAIApi',
  id: name,
}));
const OPENAI = {
  name: 'My OpenAI Key',
  credentialName: 'openAIApi',
  id: '513db410',
  plainDataObj: { openAIApiKey: 'sk-1' },
};

describe('refreshing nodes', () => {
  it('reads the reference and asks nobody [S000-F2-nodes-from-reference] [S000-F3-fingerprint]', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake, small());
    const payload = await scene.refresh({ nodes: true });
    expect(fake.requests.count()).toBe(0);
    expect(lineOf(payload)).toEqual(['[nodes]       0 items in snapshot, 1 in reference — 1 new: chatEcho']);
    const text = scene.files()['flowise_nodes.snapshot.json'] as string;
    expect(JSON.parse(text).map((node: { node_type: string }) => node.node_type)).toEqual(['chatEcho']);
    expect(scene.json('flowise_nodes.meta.json')).toEqual({
      snapshot_file: 'schemas/default/flowise_nodes.snapshot.json',
      generated_at: FIRST_DAY,
      source_host: fake.url,
      flowise_version: null,
      item_count: 1,
      sha256: createHash('sha256').update(text).digest('hex'),
      status: 'ok',
      source: 'reference',
    });
  });

  it('counts the committed reference without a server and without writing [S000-M1-dry-run-counts] [S000-F1-dry-run]', async () => {
    const scene = await refreshScene(null);
    const payload = await scene.refresh({ nodes: true, dry_run: true });
    expect(payload).toMatchObject({ ok: true, server: null, exit_code: 0 });
    expect(lineOf(payload)).toEqual(['[nodes]       297 items — no change (fingerprint match)']);
    expect(scene.files()).toEqual({});
  });

  it.each([
    ['from_api', { nodes: true, from_api: true }, {}],
    ['NODE_SNAPSHOT_FROM_API', { nodes: true }, { NODE_SNAPSHOT_FROM_API: 'true' }],
  ])('completes the reference by one request, %s [S000-F2-from-api] [S000-F4-diff]', async (_, input, env) => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake, { ...small(), env });
    const payload = await scene.refresh(input);
    expect(fake.requests.counters()).toEqual({ 'GET /nodes': 1, 'GET /version': 1 });
    expect(lineOf(payload)).toEqual(['[nodes]       0 items in snapshot, 1 in API — 1 new: zapierNLA']);
    // The reference's own node is not on this server: it is kept, listed, and not used.
    expect(scene.json('flowise_nodes.meta.json')).toMatchObject({ removed: ['chatEcho'], flowise_version: '3.1.4' });
    expect(scene.json('flowise_nodes.snapshot.json')).toHaveLength(2);
  });

  it('takes the definition of the server for that server, and says what changed [S000-F2-from-api] [S000-F4-diff]', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake, small());
    await scene.refresh({ nodes: true, from_api: true });
    fake.world.nodes = [{ ...SMALL_NODE, version: 3 }];
    const [line] = lineOf(await scene.refresh({ nodes: true, from_api: true }));
    expect(line).toBe('[nodes]       2 items — 1 changed: zapierNLA version changed');
    const [, zapier] = scene.json('flowise_nodes.snapshot.json');
    expect(zapier.version).toBe(3);
  });

  it('is not resolved by a session once the server has it no more [S000-F4-removed-kept]', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake, small());
    await scene.refresh({ nodes: true, from_api: true });
    const { deps } = scene;
    const knowledge = createKnowledge({ ...deps, ...deps.knowledgeFolders, servers: deps.flowise });
    const session = await knowledge.session('default');
    expect([session.nodes.get('zapierNLA')?.version, session.nodes.get('chatEcho')]).toEqual([2, null]);
  });

  it('keeps nodes that were fetched one by one and that the reference does not know [S000-F2-nodes-from-reference]', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake, small());
    const { deps } = scene;
    const knowledge = createKnowledge({ ...deps, ...deps.knowledgeFolders, servers: deps.flowise });
    await (await knowledge.session('default')).getNodeSchema('zapierNLA');
    await scene.refresh({ nodes: true });
    const types = scene.json('flowise_nodes.snapshot.json').map((node: { node_type: string }) => node.node_type);
    expect(types).toEqual(['chatEcho', 'zapierNLA']);
    expect((await scene.ask('knowledge.status', {})).parts[0]).toMatchObject({ items: 2, repairs: 1, origin: 'own' });
  });

  it('writes a reference that gives the same nodes, and reads it from then on [FLR-refresh-reference-file]', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake, small());
    const { parts } = await scene.refresh({ nodes: true, from_api: true, write_reference: true });
    expect(parts[0].reference).toBe('schemas/default/FLOWISE_NODE_REFERENCE.md');
    const path = join(scene.folder, 'FLOWISE_NODE_REFERENCE.md');
    const { nodes } = parseReference(readFileSync(path, 'utf8'));
    expect(nodes.map(({ node_type }) => node_type)).toEqual(['zapierNLA']);
    const before = scene.files()['flowise_nodes.snapshot.json'];
    await scene.refresh({ nodes: true });
    expect(scene.files()['flowise_nodes.snapshot.json']).toBe(before);
    writeFileSync(path, readFileSync(path, 'utf8').replace('version: 2', 'version: 4'));
    const [line] = lineOf(await scene.refresh({ nodes: true }));
    expect(line).toContain('1 changed: zapierNLA version changed');
  });

  it('refuses a reference that cannot be read, with its line, and keeps what was known [FLR-refresh-parts-are-independent]', async () => {
    const reference = smallReference();
    const scene = await refreshScene(null, { ...small(), reference });
    await scene.refresh({ nodes: true });
    const before = scene.files();
    writeFileSync(reference, SMALL_REFERENCE.replace('version: 1', 'version: one'));
    const payload = await scene.refresh({ nodes: true });
    expect(payload).toMatchObject({ ok: false, exit_code: 2, parts: [{ error: { code: 'SNAPSHOT_INVALID' } }] });
    expect(lineOf(payload)[0]).toContain('FLOWISE_NODE_REFERENCE.md line 6');
    expect(scene.files()).toEqual(before);
    expect(
      (await refreshScene(null, { reference: '/nowhere.md' }).then((one) => one.refresh({ nodes: true }))).parts[0]
        .line,
    ).toContain('git checkout');
  });
});

describe('refreshing templates and credentials', () => {
  it('tells new templates, keeps removed ones, and leaves flows out [S000-M2-templates] [S000-F4-removed-kept]', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake, small());
    await scene.refresh({ templates: true });
    expect(scene.files()['flowise_templates.snapshot.json']).not.toContain('flowData"');
    fake.requests.clear();
    fake.world.templates = [
      { templateName: 'Translator', type: 'AgentflowV2', description: 'Words.' },
      { templateName: 'SQL agent', type: 'AgentflowV2' },
    ];
    const [line] = lineOf(await scene.refresh({ templates: true }));
    expect(line).toBe(
      '[templates]   2 items in snapshot, 2 in API — 1 new: "SQL agent"; 1 removed (warning only, kept): "PDF chat"',
    );
    expect(fake.requests.count('GET', '/marketplaces/templates')).toBe(1);
    expect(scene.json('flowise_templates.meta.json').removed).toHaveLength(1);
    expect(lineOf(await scene.refresh({ templates: true }))).toEqual([
      '[templates]   3 items — no change (fingerprint match)',
    ]);
  });

  it('tells a changed credential in the words of the contract, and keeps six fields [S000-F4-diff] [S000-M3-redaction]', async () => {
    const fake = await smallFlowise({ credentials: [OPENAI, ...CREDENTIALS] });
    const scene = await refreshScene(fake, small());
    await scene.refresh({ credentials: true });
    const row = fake.rows.credentials.get('513db410') as { updatedDate: string };
    row.updatedDate = '2027-01-01T00:00:00.000Z';
    const payload = await scene.refresh({ credentials: true });
    expect(lineOf(payload)).toEqual(['[credentials] 5 items — 1 changed: "My OpenAI Key" updated_at changed']);
    for (const entry of scene.json('flowise_credentials.snapshot.json')) {
      expect(Object.keys(entry)).toEqual(['credential_id', 'name', 'type', 'tags', 'created_at', 'updated_at']);
    }
    expect(JSON.stringify([scene.files(), payload])).not.toMatch(/sk-1|encryptedData|plainDataObj/);
  });

  it('leaves every byte when nothing is new [FLR-refresh-unchanged]', async () => {
    const fake = await smallFlowise({ credentials: [OPENAI] });
    const scene = await refreshScene(fake, small());
    await scene.refresh({ all: true, from_api: true });
    const before = scene.files();
    expect(Object.keys(before)).toHaveLength(6);
    scene.at('2026-03-01T00:00:00.000Z');
    const payload = await scene.refresh({ all: true, from_api: true });
    expect(payload.parts.map((part: { outcome: string }) => part.outcome)).toEqual([
      'unchanged',
      'unchanged',
      'unchanged',
    ]);
    expect(scene.files()).toEqual(before);
  });

  it('tells what would change and writes nothing [S000-F1-dry-run]', async () => {
    const fake = await smallFlowise({ credentials: [OPENAI] });
    const scene = await refreshScene(fake, small());
    const payload = await scene.refresh({ all: true, from_api: true, write_reference: true, dry_run: true });
    expect(payload).toMatchObject({ ok: true, dry_run: true, exit_code: 0 });
    expect(payload.parts.map((part: { outcome: string }) => part.outcome)).toEqual(Array(3).fill('would_change'));
    expect(lineOf(payload)[2]).toBe('[credentials] 0 items in snapshot, 1 in API — 1 new: "My OpenAI Key"');
    expect(scene.files()).toEqual({});
  });

  it('goes on after a part that failed, and keeps what that part knew [FLR-refresh-parts-are-independent]', async () => {
    const fake = await smallFlowise({ credentials: [OPENAI] });
    const scene = await refreshScene(fake, small());
    await scene.refresh({ all: true });
    const before = scene.files()['flowise_templates.snapshot.json'];
    fake.rows.addCredential({ name: 'New', credentialName: 'x' });
    fake.fault('GET', '/marketplaces/templates', { kind: 'answer', status: 403, body: { message: 'Forbidden' } });
    const payload = await scene.refresh({ all: true });
    expect(payload).toMatchObject({ ok: false, exit_code: 2 });
    expect(payload.parts.map((part: { outcome: string }) => part.outcome)).toEqual(['unchanged', 'failed', 'written']);
    expect(payload.parts[1].error.code).toBe('FLOWISE_FORBIDDEN');
    expect(scene.files()['flowise_templates.snapshot.json']).toBe(before);
  });

  it.each([
    ['templates', '/marketplaces/templates', { templates: true }],
    ['nodes', '/nodes', { nodes: true, from_api: true }],
  ])('does not take an empty list of %s for an answer [FLR-refresh-empty-refused]', async (_, route, input) => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake, small());
    await scene.refresh(input);
    const before = scene.files();
    fake.fault('GET', route, { kind: 'answer', status: 200, body: [] });
    const payload = await scene.refresh(input);
    expect(payload.parts[0]).toMatchObject({ outcome: 'failed', error: { code: 'FLOWISE_BAD_ANSWER' } });
    expect(scene.files()).toEqual(before);
  });

  it('replaces a broken snapshot and one of another server [S000-F3-fingerprint]', async () => {
    const fake = await smallFlowise({ credentials: [OPENAI] });
    const scene = await refreshScene(fake, small());
    mkdirSync(scene.folder, { recursive: true });
    writeFileSync(join(scene.folder, 'flowise_credentials.snapshot.json'), '[{"encryptedData":"x"}]');
    writeFileSync(join(scene.folder, 'flowise_templates.snapshot.json'), '{');
    expect((await scene.refresh({ templates: true, credentials: true })).exit_code).toBe(0);
    expect((await scene.refresh({ all: true, validate: true })).exit_code).toBe(0);
    expect(scene.files()['flowise_credentials.snapshot.json']).not.toContain('encryptedData');
  });

  it('cannot act in a terminal by its names [FLR-refresh-inert]', async () => {
    const fake = await smallFlowise({ credentials: [{ name: 'x\u001b[31m\nred', credentialName: 'y', id: 'i' }] });
    const scene = await refreshScene(fake, small());
    const [line] = lineOf(await scene.refresh({ credentials: true }));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(line).not.toMatch(/[\u0000-\u001f]/);
  });
});

describe('who may, and what is asked', () => {
  it.each(ENGINES)(
    'lets viewers look and editors refresh, with an audit line of ids, on %s [FLR-refresh-access]',
    async (engine) => {
      const fake = await smallFlowise({ credentials: [OPENAI] });
      const scene = await refreshScene(fake, { ...small(), engine });
      expect(await scene.codeOf('knowledge.status', {}, { role: 'viewer' })).toBe('done');
      for (const name of ['knowledge.refresh', 'knowledge.audit']) {
        expect(await scene.codeOf(name, { credentials: true }, { role: 'viewer' })).toBe('FORBIDDEN');
      }
      await scene.refresh({ credentials: true }, { role: 'editor' });
      const line = (await scene.auditLines()).find(
        ({ action, detail_json }) => action === 'knowledge.refresh' && detail_json.includes('parts'),
      );
      expect(line?.detail_json).toContain('credentials: written');
      expect(line?.detail_json).not.toContain('My OpenAI Key');
    },
  );

  it('knows no server of another vault [FLR-refresh-other-vault]', async () => {
    const fake = await smallFlowise({ credentials: [OPENAI] });
    const scene = await refreshScene(fake, small());
    await scene.refresh({ credentials: true });
    expect(await scene.codeOf('knowledge.status', { server: 'default' }, { vault: 'other' })).toBe(
      'FLOWISE_SERVER_UNKNOWN',
    );
    const elsewhere = await scene.ask('knowledge.status', {}, { vault: 'other' });
    expect([elsewhere.server, elsewhere.parts[2].items]).toEqual([null, 0]);
    expect((await scene.refresh({ credentials: true }, { vault: 'other' })).parts[0].error.code).toBe(
      'FLOWISE_SERVER_UNKNOWN',
    );
  });

  it('wants at least one part, and nodes where they are meant [S000-F1-parts]', async () => {
    const scene = await refreshScene(await smallFlowise(), small());
    expect(await scene.codeOf('knowledge.refresh', {})).toBe('BAD_REQUEST');
    expect(await scene.codeOf('knowledge.refresh', { templates: true, from_api: true })).toBe('BAD_REQUEST');
    expect(await scene.codeOf('knowledge.refresh', { credentials: true, write_reference: true })).toBe('BAD_REQUEST');
    const partsOf = async (input: Record<string, unknown>) =>
      (await scene.refresh({ ...input, dry_run: true })).parts.map(({ part }: { part: string }) => part);
    expect(await partsOf({ all: true })).toEqual(['nodes', 'templates', 'credentials']);
    expect(await partsOf({ workday_api: true, nodes: true })).toEqual(['nodes', 'workday_api']);
  });

  it('tells age, time left, source and whose they are [FLR-knowledge-status]', async () => {
    const fake = await smallFlowise({ credentials: [OPENAI] });
    const scene = await refreshScene(fake, { env: { CREDENTIAL_SNAPSHOT_TTL_SECONDS: '3600' } });
    await scene.refresh({ credentials: true });
    scene.at('2026-02-23T12:10:00.000Z');
    const { parts, server } = await scene.ask('knowledge.status', {});
    expect(server).toBe('default');
    const [nodes, templates, credentials, mcp] = parts;
    expect(nodes).toMatchObject({
      origin: 'baseline',
      items: 297,
      state: 'ok',
      ttl_seconds: null,
      flowise_version: '3.1.4',
    });
    expect(templates).toMatchObject({ origin: 'baseline', items: 50 });
    expect(credentials).toMatchObject({
      origin: 'own',
      items: 1,
      age_seconds: 600,
      ttl_left_seconds: 3_000,
      source_host: fake.url,
    });
    expect(mcp).toMatchObject({ origin: 'baseline', state: 'stub', items: 0, sha256: null });
    expect(fake.requests.count('GET', '/nodes')).toBe(0);
    writeFileSync(join(scene.folder, 'flowise_credentials.snapshot.json'), '[]');
    const broken = (await scene.ask('knowledge.status', {})).parts[2];
    expect(broken).toMatchObject({ state: 'mismatch', origin: 'none', items: 0 });
    expect(broken.reason).toContain('fingerprint');
  });
});
