import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/kernel/hash.ts';
import { CREDENTIAL_FIELDS } from '../../src/knowledge/index.ts';
import { snapshotPaths } from '../../src/knowledge/snapshot-file.ts';
import { knowledgeScene } from '../support/knowledge.ts';

const SECRET = 'a-secret-that-must-not-be-seen';
const CREDENTIALS = ['openAIApi', 'pineconeApi', 'serpApi', 'awsApi', 'awsApi'].map((credentialName, at) => ({
  name: `Number ${at}`,
  credentialName,
  plainDataObj: { apiKey: SECRET },
}));
const ROUTE = '/credentials';

/** Five credentials that are known already. */
async function filledScene() {
  const scene = await knowledgeScene({ credentials: CREDENTIALS });
  await scene.provider().openSession().listCredentials();
  scene.fake.requests.clear();
  scene.lines.length = 0;
  return scene;
}

describe('credentials', () => {
  it('that are known are resolved without a request [S000-M3-credential-known] [S000-M3-loaded-line] [S000-E5-state-keys]', async () => {
    const scene = await filledScene();
    const provider = scene.provider();
    const session = provider.openSession();
    const answer = await session.resolveCredential('openAIApi');
    expect(answer).toMatchObject({ found: 'one', credential: { name: 'Number 0', type: 'openAIApi' } });
    const id = answer.found === 'one' ? answer.credential.credential_id : '';
    for (const query of ['OPENAIAPI', 'number 0', 'Number 0', id]) {
      expect(await session.resolveCredential(query)).toEqual(answer);
    }
    expect(provider.credentials.resolve('openAIApi')).toBe(id);
    expect(provider.credentials.resolve('nothing')).toBeNull();
    expect(scene.fake.requests.count()).toBe(0);
    expect(scene.lines).toEqual([
      expect.objectContaining({ level: 'info', message: '[knowledge] credentials loaded: 5 items (from snapshot)' }),
    ]);
    expect(session.state().facts.flowise.resolved_credentials).toEqual({ 'Number 0': id });
    expect(Object.keys(session.state())).toEqual(['facts', 'artifacts', 'debug']);
  });

  it('that several fit are all offered and none is taken [FLR-knowledge-ambiguous-credential]', async () => {
    const scene = await filledScene();
    const provider = scene.provider();
    const answer = await provider.openSession().resolveCredential('awsApi');
    expect(answer).toMatchObject({ found: 'several', choices: [{ name: 'Number 3' }, { name: 'Number 4' }] });
    expect(provider.credentials.resolve('awsApi')).toBeNull();
  });

  it('that are unknown make one request, whose filtered content is kept and told [S000-M3-credential-miss] [S000-B4-allowlist]', async () => {
    const scene = await filledScene();
    const added = scene.fake.rows.addCredential({
      name: 'Fresh',
      credentialName: 'cohereApi',
      plainDataObj: { apiKey: SECRET },
    });
    const session = scene.provider().openSession();
    const [answer, same] = await Promise.all([session.resolveCredential('Fresh'), session.resolveCredential('Fresh')]);
    expect(answer).toMatchObject({ found: 'one', credential: { credential_id: added.id, type: 'cohereApi' } });
    expect(same).toEqual(answer);
    expect(scene.fake.requests.count('GET', ROUTE)).toBe(1);
    expect(scene.fake.requests.count()).toBe(1);
    const events = session.repairEvents;
    expect(events[0]).toMatchObject({ kind: 'credential', node_type: 'Fresh', action: 'repaired' });
    expect(scene.lines.map(({ message }) => message)).toContain(
      '[knowledge] repaired snapshot: credentials from API (1 added, 0 changed, 0 removed)',
    );

    const { snapshot, meta } = scene.bytes('flowise_credentials');
    expect(snapshot + meta + JSON.stringify(scene.lines)).not.toContain(SECRET);
    for (const entry of JSON.parse(snapshot) as object[]) expect(Object.keys(entry)).toEqual([...CREDENTIAL_FIELDS]);
    expect(JSON.parse(meta)).toMatchObject({ item_count: 6, sha256: sha256Hex(snapshot) });
    expect(await scene.provider().openSession().resolveCredential('cohereApi')).toEqual(answer);
    expect(scene.fake.requests.count()).toBe(1);
  });

  it('that nobody has make one request a session [S000-E2-not-found-once]', async () => {
    const scene = await filledScene();
    const before = scene.bytes('flowise_credentials');
    const session = scene.provider().openSession();
    expect(await session.resolveCredential('nobody')).toEqual({ found: 'none' });
    expect(await session.resolveCredential('nobody')).toEqual({ found: 'none' });
    expect(scene.fake.requests.count()).toBe(1);
    expect(session.repairEvents).toEqual([expect.objectContaining({ action: 'not_found' })]);
    expect(scene.bytes('flowise_credentials')).toEqual(before);
  });

  it('are listed once when nothing is known yet, also for one that nobody has [S000-M3-credential-miss]', async () => {
    const scene = await knowledgeScene({ credentials: CREDENTIALS });
    expect(await scene.provider().openSession().resolveCredential('nobody')).toEqual({ found: 'none' });
    expect(scene.fake.requests.count('GET', ROUTE)).toBe(1);
    expect(scene.lines[0]?.message).toBe('[knowledge] credentials loaded: 5 items (from API)');
  });

  it('are listed again when they have aged; renamed ones follow, removed ones are not resolved [S000-M3-credential-ttl] [FLR-knowledge-removed-not-resolved]', async () => {
    const scene = await filledScene();
    const [first, second] = [...scene.fake.rows.credentials.values()];
    if (first) first.name = 'Renamed';
    scene.fake.rows.credentials.delete(second?.id ?? '');
    const session = scene.provider().openSession();
    expect(await session.resolveCredential('pineconeApi')).toMatchObject({ found: 'one' });
    expect(scene.fake.requests.count()).toBe(0);

    scene.clock.pass(3_601);
    const later = scene.provider().openSession();
    expect(await later.resolveCredential('openAIApi')).toMatchObject({ found: 'one', credential: { name: 'Renamed' } });
    expect(scene.fake.requests.count('GET', ROUTE)).toBe(1);
    expect(await later.listCredentials()).toHaveLength(4);
    const reading = scene.read('flowise_credentials');
    expect(reading.state === 'ok' && reading.meta.removed).toEqual([second?.id]);
    const fresh = scene.provider().openSession();
    expect(await fresh.listCredentials()).toHaveLength(4);
    expect(await fresh.resolveCredential(second?.id ?? '')).toEqual({ found: 'none' });
    expect(scene.bytes('flowise_credentials').snapshot).toContain(second?.id);
  });

  it('of a file with a banned key, or of another server, are never used [S000-D3-banned-keys] [FLR-knowledge-last-good]', async () => {
    for (const spoil of ['banned', 'wrong host'] as const) {
      const scene = await knowledgeScene({ credentials: [] });
      const { snapshot, meta } = snapshotPaths(scene.folder, 'flowise_credentials');
      const entry = {
        credential_id: 'stolen',
        name: 'Stolen',
        type: 'openAIApi',
        tags: [],
        created_at: null,
        updated_at: null,
      };
      const text = JSON.stringify([spoil === 'banned' ? { ...entry, encryptedData: SECRET } : entry]);
      mkdirSync(scene.folder, { recursive: true });
      writeFileSync(snapshot, text);
      const source_host = spoil === 'banned' ? scene.host : null;
      const generated_at = scene.clock.now().toISOString();
      writeFileSync(
        meta,
        JSON.stringify({ sha256: sha256Hex(text), status: 'ok', item_count: 1, source_host, generated_at }),
      );
      scene.fake.fault('GET', ROUTE, { kind: 'drop' });
      const down = scene.provider().openSession();
      expect(await down.resolveCredential('Stolen')).toEqual({ found: 'none' });
      expect(down.warnings.map(({ code }) => code)).toEqual(['SNAPSHOT_INVALID', 'FLOWISE_UNREACHABLE']);
      scene.fake.heal();
      expect(await scene.provider().openSession().resolveCredential('Stolen')).toEqual({ found: 'none' });
      expect(scene.bytes('flowise_credentials').snapshot).toBe('[]\n');
      expect(JSON.stringify(scene.lines)).not.toContain(SECRET);
    }
  });

  it('are served old when the server is down [FLR-knowledge-last-good]', async () => {
    const scene = await filledScene();
    scene.clock.pass(3_601);
    scene.fake.fault('GET', ROUTE, { kind: 'answer', status: 403, body: '{"message":"no"}' });
    const session = scene.provider().openSession();
    expect(await session.resolveCredential('serpApi')).toMatchObject({ found: 'one' });
    expect(await session.resolveCredential('nobody')).toEqual({ found: 'none' });
    expect(scene.fake.requests.count('GET', ROUTE)).toBe(1);
    expect(session.warnings).toHaveLength(1);
  });

  it('asked for by something that looks like a secret leave no trace of it [S000-B4-allowlist]', async () => {
    const scene = await filledScene();
    const typed = `sk-${'A1b2'.repeat(10)}`;
    const session = scene.provider().openSession();
    await session.resolveCredential(typed);
    expect(JSON.stringify([session.repairEvents, session.state(), scene.lines])).not.toContain(typed);
  });

  it('cannot be changed by who reads them [FLR-knowledge-frozen]', async () => {
    const scene = await filledScene();
    const list = await scene.provider().openSession().listCredentials();
    expect(() => (list as unknown[]).push({})).toThrow(TypeError);
    expect(() => Object.assign(list[0] ?? {}, { name: 'x' })).toThrow(TypeError);
  });
});
