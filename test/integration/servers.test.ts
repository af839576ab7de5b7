import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createServers, serverNamed } from '../../src/flowise/index.ts';
import { operations } from '../../src/flowise/servers/operations.ts';
import type { ServerBook } from '../../src/flowise/servers/server.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { resolveConfig } from '../../src/kernel/config.ts';
import type { FlowrightError } from '../../src/kernel/errors.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { makeVault, useLibrary } from '../data-integrity/library.ts';
import { ENGINES, onEachDatabase, onFirst } from '../support/databases.ts';
import { useFakeFlowise } from '../support/fake-flowise/index.ts';
import { invoked, type Payload } from '../support/invoked.ts';
import { hang, html, json, type RudeServer, raw, startRudeServer } from '../support/rude-server.ts';

const KEY = 'Zk3-key-of-the-added-server_9f';
const URL = 'http://127.0.0.1:3000';

/** A server as it was stored before anything was marked. */
function bareRow(name: string) {
  const times = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' };
  return { vault_id: 'default', name, url: URL, auth: 'none' as const, is_default: 0, ...times };
}

onEachDatabase((engine, makeStore) => {
  const once = onFirst(engine);
  const books: ServerBook[] = [];
  const rude: RudeServer[] = [];
  afterEach(async () => {
    await Promise.all(books.splice(0).map((book) => book.close()));
    await Promise.all(rude.splice(0).map((server) => server.close()));
  });
  const open = async (environment: Record<string, string> = {}, file: unknown = {}) => {
    const database = await useLibrary(makeStore);
    await makeVault(database, 'other');
    const { config, origins } = resolveConfig({ environment, file });
    const key = randomBytes(32);
    let looks = 0;
    const sealingKey = () => {
      looks += 1;
      return key;
    };
    const options = { database, config, origins, clock: systemClock, log: silentLog };
    const flowise = createServers({ ...options, sealingKey });
    const elsewhere = createServers({ ...options, sealingKey: () => randomBytes(32) });
    books.push(flowise, elsewhere);
    const asked = invoked(operations, { database, clock: systemClock, flowise });
    return { database, flowise, elsewhere, looks: () => looks, ...asked };
  };
  const start = async () => {
    const server = await startRudeServer();
    rude.push(server);
    return server;
  };
  const names = ({ items }: Payload) => items.map(({ name }: { name: string }) => name);
  const meant = ({ items }: Payload) =>
    items.filter(({ is_default }: { is_default: boolean }) => is_default).map(({ name }: { name: string }) => name);
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (error: FlowrightError) => error.code,
    );

  describe('[FLR-servers-named] servers', () => {
    it('are added, replaced and removed', async () => {
      const { ask, codeOf: refusalOf } = await open();
      expect(await ask('server.list', {})).toMatchObject({ ok: true, count: 0, total_count: 0, items: [] });
      const added = await ask('server.add', { name: 'lab', url: `${URL}/api/v1/`, api_key: KEY });
      expect(added).toMatchObject({
        replaced: false,
        item: { name: 'lab', url: URL, auth: 'key', origin: 'added', is_default: true },
      });
      const again = await ask('server.add', { name: 'lab', url: 'http://admin:pw@127.0.0.1:3001' });
      expect(again).toMatchObject({ replaced: true, item: { url: 'http://127.0.0.1:3001', auth: 'basic' } });
      expect((await ask('server.list', {})).total_count).toBe(1);
      await ask('server.remove', { name: 'lab' });
      expect((await ask('server.list', {})).total_count).toBe(0);
      expect(await refusalOf('server.remove', { name: 'lab' })).toBe('FLOWISE_SERVER_UNKNOWN');
    });

    it('are listed in pages, by name', async () => {
      const { ask } = await open();
      for (const name of ['c', 'a', 'b']) await ask('server.add', { name, url: URL });
      expect(names(await ask('server.list', {}))).toEqual(['a', 'b', 'c']);
      const page = await ask('server.list', { limit: 1, offset: 1 });
      expect([names(page), page.total_count]).toEqual([['b'], 3]);
    });

    it('have one that is meant: the marked one, the only one, or the one called default', async () => {
      const { ask, flowise, database } = await open();
      expect(await codeOf(flowise.client('default'))).toBe('FLOWISE_SERVER_UNKNOWN');
      await ask('server.add', { name: 'a', url: URL });
      expect((await flowise.client('default')).server).toBe('a');
      await ask('server.add', { name: 'b', url: URL });
      expect((await flowise.client('default')).server).toBe('a');
      await ask('server.add', { name: 'c', url: URL });
      await ask('server.remove', { name: 'a' });
      const error = (await flowise.client('default').catch((thrown: unknown) => thrown)) as FlowrightError;
      expect(error).toMatchObject({ code: 'FLOWISE_SERVER_UNKNOWN', details: { servers: ['b', 'c'] } });
      expect(error.message).toMatch(/b, c\).*flowright server default NAME/);
      await database.queries.insertInto('flowise_servers').values(bareRow('default')).execute();
      expect(meant(await ask('server.list', {}))).toEqual(['default']);
      await ask('server.add', { name: 'b', url: URL, default: true });
      await ask('server.add', { name: 'a', url: URL, default: true });
      expect(meant(await ask('server.list', {}))).toEqual(['a']);
      expect((await flowise.client('default')).server).toBe('a');
      expect((await flowise.client('default', 'b')).server).toBe('b');
      expect(await codeOf(flowise.client('default', 'z'))).toBe('FLOWISE_SERVER_UNKNOWN');
    });

    it('have one that the setting means, and none when the setting misses', async () => {
      const { ask, flowise } = await open({ FLOWRIGHT_FLOWISE_SERVER: 'b' });
      await ask('server.add', { name: 'a', url: URL, default: true });
      expect(await codeOf(flowise.client('default'))).toBe('FLOWISE_SERVER_UNKNOWN');
      await ask('server.add', { name: 'b', url: URL });
      expect((await flowise.client('default')).server).toBe('b');
      await ask('server.add', { name: 'own', url: URL }, { vault: 'other' });
      expect((await flowise.client('other')).server).toBe('own');
    });

    it('[S000-F1-environment] come from the environment, and win over added ones of the same name', async () => {
      const server = await start();
      server.on('/api/v1/nodes', json([]));
      const { ask, codeOf: refusalOf, flowise } = await open({ FLOWISE_API_URL: server.url, FLOWISE_API_KEY: KEY });
      const { items } = await ask('server.list', {});
      expect(items).toEqual([
        { name: 'default', url: server.url, auth: 'key', origin: 'environment', is_default: true },
      ]);
      await (await flowise.client('default')).listNodes();
      expect(server.received[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
      expect(await refusalOf('server.add', { name: 'default', url: URL })).toBe('CONFLICT');
      expect(await refusalOf('server.remove', { name: 'default' })).toBe('CONFLICT');
    });

    it('come from config.yaml, each for its vault', async () => {
      const file = {
        flowise_servers: [
          { name: 'lab', url: URL, api_key: KEY },
          { name: 'old', url: 'http://u:p@127.0.0.1:3001', vault: 'other' },
        ],
      };
      const { ask } = await open({}, file);
      expect((await ask('server.list', {})).items).toMatchObject([{ name: 'lab', origin: 'config', auth: 'key' }]);
      const { items } = await ask('server.list', {}, { vault: 'other' });
      expect(items).toMatchObject([{ name: 'old', url: 'http://127.0.0.1:3001', auth: 'basic', is_default: true }]);
    });

    it('keep one client until their address or key changes', async () => {
      const { ask, flowise } = await open();
      await ask('server.add', { name: 'lab', url: URL, api_key: KEY });
      const first = await flowise.client('default', 'lab');
      expect(await flowise.client('default')).toBe(first);
      await ask('server.add', { name: 'lab', url: URL, api_key: 'another' });
      expect(await flowise.client('default')).not.toBe(first);
      expect(await codeOf(first.listNodes())).toBe('FLOWISE_UNREACHABLE');
    });

    it('are refused with every mistake', async () => {
      const { ask } = await open();
      const mistakes = async (input: Record<string, unknown>) => {
        const error = (await ask('server.add', input).catch((thrown: unknown) => thrown)) as FlowrightError;
        expect(error.code).toBe('BAD_REQUEST');
        expect(JSON.stringify(error.details)).not.toContain('hunter2');
        return (error.details.errors as { path: string }[]).map(({ path }) => path).sort();
      };
      expect(await mistakes({ name: 'Lab!', url: 'ftp://x', api_key: 'hunter2 \n' })).toEqual([
        '/api_key',
        '/name',
        '/url',
      ]);
      expect(await mistakes({ name: 'lab', url: URL, api_key: 'hunter2', username: 'me' })).toEqual(['/username']);
      expect(await mistakes({ name: 'lab', url: URL, password: 'hunter2' })).toEqual(['/password']);
      expect(await mistakes({ name: 'lab', url: `${URL}/?key=hunter2` })).toEqual(['/url']);
    });
  });

  describe('[FLR-servers-default] the server that is meant', () => {
    it('is the first one, stays it when others come or it is named again, and moves when told', async () => {
      const { ask } = await open();
      expect((await ask('server.add', { name: 'b', url: URL })).item.is_default).toBe(true);
      expect((await ask('server.add', { name: 'a', url: URL })).item.is_default).toBe(false);
      expect(meant(await ask('server.list', {}))).toEqual(['b']);
      expect((await ask('server.add', { name: 'b', url: URL, api_key: KEY })).item.is_default).toBe(true);
      expect(await ask('server.default', { name: 'a' })).toMatchObject({
        ok: true,
        item: { name: 'a', is_default: true },
      });
      expect(meant(await ask('server.list', {}))).toEqual(['a']);
      expect((await ask('server.add', { name: 'b', url: URL, default: true })).item.is_default).toBe(true);
      expect(meant(await ask('server.list', {}))).toEqual(['b']);
    });

    it('is also the only one that was there before anybody marked one', async () => {
      const { ask, database } = await open();
      await database.queries.insertInto('flowise_servers').values(bareRow('old')).execute();
      await ask('server.add', { name: 'new', url: URL });
      expect(meant(await ask('server.list', {}))).toEqual(['old']);
    });

    it('may be one of the settings, through a setting alone', async () => {
      const file = { flowise_servers: [{ name: 'live', url: URL }] };
      const { ask, codeOf: refusalOf } = await open({}, file);
      await ask('server.add', { name: 'a', url: URL });
      expect(meant(await ask('server.list', {}))).toEqual(['live']);
      const error = (await ask('server.default', { name: 'live' }).catch(
        (thrown: unknown) => thrown,
      )) as FlowrightError;
      expect([error.code, error.message]).toEqual(['CONFLICT', expect.stringContaining('flowise_server: live')]);
      expect(await refusalOf('server.default', { name: 'nowhere' })).toBe('FLOWISE_SERVER_UNKNOWN');
      await ask('server.default', { name: 'a' });
      expect(meant(await ask('server.list', {}))).toEqual(['a']);
    });

    it('is not moved where a setting would not let it move', async () => {
      const { ask, database } = await open({ FLOWRIGHT_FLOWISE_SERVER: 'b' });
      for (const name of ['a', 'b']) await ask('server.add', { name, url: URL });
      const marks = () =>
        database.queries.selectFrom('flowise_servers').select(['name', 'is_default']).orderBy('name').execute();
      const before = await marks();
      const error = (await ask('server.default', { name: 'a' }).catch((thrown: unknown) => thrown)) as FlowrightError;
      expect([error.code, error.message]).toEqual(['CONFLICT', expect.stringContaining('says that b is meant')]);
      expect(await marks()).toEqual(before);
    });
  });

  describe('[FLR-servers-keep-secret] naming a server again', () => {
    it('without a key keeps the stored one, and drops it only when told', async () => {
      const server = await start();
      server.on('/api/v1/nodes', json([]));
      const { ask, flowise } = await open();
      const { url } = server;
      await ask('server.add', { name: 'lab', url, api_key: KEY });
      const again = await ask('server.add', { name: 'lab', url, default: true });
      expect(again).toMatchObject({ replaced: true, secret_kept: true, item: { auth: 'key', is_default: true } });
      await (await flowise.client('default', 'lab')).listNodes();
      expect(server.received[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
      expect(await ask('server.add', { name: 'lab', url, auth: 'none' })).toMatchObject({
        secret_kept: false,
        item: { auth: 'none' },
      });
    });

    it('does not take the stored key to another address', async () => {
      const { ask, flowise } = await open();
      await ask('server.add', { name: 'lab', url: URL, api_key: KEY });
      const moved = { name: 'lab', url: 'http://127.0.0.1:3666' };
      const error = (await ask('server.add', moved).catch((thrown: unknown) => thrown)) as FlowrightError;
      expect([error.code, error.message]).toEqual([
        'BAD_REQUEST',
        expect.stringMatching(/give the key again.*--no-key/),
      ]);
      expect((await flowise.client('default', 'lab')).url).toBe(URL);
      expect((await ask('server.add', { ...moved, auth: 'none' })).item.auth).toBe('none');
    });
  });

  describe('[FLR-servers-one-way] a user name in the address', () => {
    it('is used, and refused beside another way of asking', async () => {
      const url = 'http://u:hunter2@127.0.0.1:3000';
      const { ask, flowise } = await open({ FLOWISE_API_URL: url, FLOWISE_API_KEY: KEY });
      expect((await ask('server.add', { name: 'lab', url })).item).toMatchObject({ url: URL, auth: 'basic' });
      for (const more of [{ api_key: KEY }, { username: 'me' }, { auth: 'none' }]) {
        const error = (await ask('server.add', { name: 'lab', url, ...more }).catch(
          (thrown) => thrown,
        )) as FlowrightError;
        expect([error.code, error.message]).toEqual(['BAD_REQUEST', expect.stringContaining('holds a user name')]);
        expect(JSON.stringify([error.message, error.details])).not.toContain('hunter2');
      }
      const error = (await flowise.client('default', 'default').catch((thrown: unknown) => thrown)) as FlowrightError;
      expect([error.code, error.message]).toEqual(['CONFIG_INVALID', expect.stringContaining('holds a user name')]);
      expect(error.message).not.toContain('hunter2');
    });
  });

  describe('[FLR-servers-sealed] the secret of a server', () => {
    it('is sealed in its row, opens only in its place and is asked for only when needed', async () => {
      const { ask, database, flowise, elsewhere, looks } = await open();
      await ask('server.add', { name: 'lab', url: URL, api_key: KEY });
      await ask('server.add', { name: 'open', url: URL });
      const sealed = looks();
      const list = await ask('server.list', {});
      expect(looks()).toBe(sealed);
      expect(JSON.stringify(list)).not.toContain(KEY);
      const row = await database.queries
        .selectFrom('flowise_servers')
        .selectAll()
        .where('name', '=', 'lab')
        .executeTakeFirstOrThrow();
      expect(JSON.stringify(row)).not.toContain(KEY);
      expect(JSON.stringify(row)).not.toContain(Buffer.from(KEY).toString('base64').slice(0, 20));
      expect(row.secret_sealed).toMatch(/^fs1\./);
      expect(await codeOf(elsewhere.client('default', 'lab'))).toBe('SEALED_ELSEWHERE');
      expect(await serverNamed(elsewhere, 'default', 'lab')).toMatchObject({ name: 'lab', auth: 'key' });
      const set = database.queries.updateTable('flowise_servers').set({ url: 'http://127.0.0.1:6666' });
      await set.where('name', '=', 'lab').execute();
      expect(await codeOf(flowise.client('default', 'lab'))).toBe('SEALED_ELSEWHERE');
      expect(await ask('server.test', { name: 'lab' })).toMatchObject({
        ok: false,
        checks: [{ check: 'ping', ok: false, code: 'SEALED_ELSEWHERE' }],
      });
    });

    it('stands in no audit line', async () => {
      const { ask, database } = await open();
      await ask('server.add', { name: 'lab', url: 'http://admin:hunter2@127.0.0.1:1' });
      await ask('server.add', { name: 'lab', url: URL, api_key: KEY });
      await ask('server.remove', { name: 'lab' });
      const lines = await database.queries.selectFrom('audit').selectAll().execute();
      expect(lines.length).toBeGreaterThanOrEqual(3);
      expect(JSON.stringify(lines)).not.toMatch(/hunter2|Zk3-key/);
    });
  });

  describe('[FLR-servers-vaults] another vault', () => {
    it('has none of these servers', async () => {
      const { ask, codeOf: refusalOf, flowise } = await open({ FLOWISE_API_URL: URL });
      await ask('server.add', { name: 'lab', url: URL, api_key: KEY });
      const there = { vault: 'other' };
      expect((await ask('server.list', {}, there)).items).toEqual([]);
      for (const name of ['lab', 'default', 'nothing']) {
        const error = (await ask('server.test', { name }, there).catch((thrown: unknown) => thrown)) as FlowrightError;
        expect(error.message.replaceAll(name, 'X')).toMatch(/^There is no Flowise server X in this vault\. /);
        expect(error.details).toEqual({ servers: [] });
        expect(await refusalOf('server.remove', { name }, there)).toBe('FLOWISE_SERVER_UNKNOWN');
        expect(await codeOf(flowise.client('other', name))).toBe('FLOWISE_SERVER_UNKNOWN');
      }
      await ask('server.add', { name: 'lab', url: 'http://127.0.0.1:3005' }, there);
      expect((await flowise.client('other', 'lab')).url).toBe('http://127.0.0.1:3005');
      expect((await flowise.client('default', 'lab')).url).toBe(URL);
    });
  });

  describe('[FLR-servers-roles] who may', () => {
    const table = [
      ['viewer', 'user', ['done', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']],
      ['editor', 'user', ['done', 'done', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']],
      ['editor', 'agent', ['done', 'done', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']],
      ['admin', 'agent', ['done', 'done', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']],
      ['admin', 'user', ['done', 'done', 'done', 'done', 'done']],
    ] as const;
    once('list, test, add, choose and remove', async () => {
      const { ask, codeOf: refusalOf } = await open();
      const { url } = await start();
      await ask('server.add', { name: 'lab', url });
      for (const [role, kind, expected] of table) {
        const asking = { role, kind };
        const codes = [
          await refusalOf('server.list', {}, asking),
          await refusalOf('server.test', { name: 'lab' }, asking),
          await refusalOf('server.add', { name: 'lab', url }, asking),
          await refusalOf('server.default', { name: 'lab' }, asking),
          await refusalOf('server.remove', { name: 'lab' }, asking),
        ];
        expect([role, kind, codes]).toEqual([role, kind, expected]);
      }
    });

    it('adding, choosing and removing have no MCP tool', () => {
      expect(operations.filter(({ mcp }) => mcp).map(({ name }) => name)).toEqual(['server.list', 'server.test']);
    });
  });

  // What a server answers differs in nothing by engine.
  if (engine !== ENGINES[0]) return;
  describe('[FLR-servers-test] testing a server', () => {
    const behave = (server: RudeServer): void => {
      server.on('/api/v1/ping', raw('pong', 'text/html'));
      // Flowise 2 has no permissions, so writing is not tried.
      server.on('/api/v1/version', json({ version: '2.2.8' }));
      for (const route of ['nodes', 'marketplaces/templates', 'credentials', 'chatflows', 'tools', 'variables']) {
        server.on(`/api/v1/${route}`, json([]));
      }
    };
    const tested = async (prepare: (server: RudeServer) => void, environment: Record<string, string> = {}) => {
      const server = await start();
      behave(server);
      prepare(server);
      const { ask } = await open(environment);
      await ask('server.add', { name: 'lab', url: server.url, api_key: KEY });
      const trial = await ask('server.test', { name: 'lab' });
      expect(JSON.stringify(trial)).not.toContain(KEY);
      return { trial, server };
    };
    const failing = ({ checks }: Payload) =>
      checks.filter(({ ok }: Payload) => !ok).map(({ check, code }: Payload) => `${check} ${code}`);

    it('says that everything works, and changes nothing there', async () => {
      const { trial, server } = await tested((it) => it.on('/api/v1/nodes', json([{ name: 'chatOpenAI' }])));
      expect(trial).toMatchObject({ ok: true, name: 'lab', flowise_version: '2.2.8', findings: [] });
      expect(trial.writes_tried).toBe(false);
      expect(trial.checks[1]).toEqual({
        check: 'nodes',
        kind: 'read',
        ok: true,
        permission: null,
        needed: true,
        count: 1,
        code: null,
        message: null,
      });
      expect(new Set(server.received.map(({ method }) => method))).toEqual(new Set(['GET']));
      const { cli } = operations.find(({ name }) => name === 'server.test') ?? {};
      expect(cli?.isBadNews?.(trial)).toBe(false);
      expect(await cli?.render(trial)).toMatch(/Writing was not tried: .*\nEverything that was tried works\./);
    });

    it('names each permission that is missing, and what it is for', async () => {
      const { trial } = await tested((server) => {
        server.on('/api/v1/credentials', json({ message: 'Forbidden' }, 403));
        server.on('/api/v1/tools', json({ message: 'Forbidden' }, 403));
      });
      expect(failing(trial)).toEqual(['credentials FLOWISE_FORBIDDEN', 'tools FLOWISE_FORBIDDEN']);
      expect(trial.ok).toBe(false);
      expect(trial.findings[0]).toMatch(/lacks the permission credentials:view, so binding credentials will not work/);
      expect(trial.findings[1]).toContain('tools:view');
      const { cli } = operations.find(({ name }) => name === 'server.test') ?? {};
      expect(cli?.isBadNews?.(trial)).toBe(true);
      expect(await cli?.render(trial)).toContain('- The API key lacks the permission credentials:view');
    });

    describe('[FLR-servers-writes] that has permissions', () => {
      const READS = ['templates:marketplace', 'credentials:view', 'chatflows:view', 'tools:view', 'variables:view'];
      const WRITES = ['chatflows:create', 'chatflows:update', 'chatflows:delete', 'tools:create', 'tools:delete'];
      const triedWith = async (permissions: string[]) => {
        const fake = await useFakeFlowise({ permissions });
        const made = fake.rows.addChatflow({ name: 'One', flowData: '{"nodes":[],"edges":[]}' });
        fake.rows.addTool({ name: 't', description: 'd', color: '#fff' });
        const before = JSON.stringify([[...fake.rows.chatflows], [...fake.rows.tools]]);
        const { ask } = await open();
        await ask('server.add', { name: 'lab', url: fake.url, api_key: fake.apiKey });
        const trial = await ask('server.test', { name: 'lab' });
        expect(JSON.stringify([[...fake.rows.chatflows], [...fake.rows.tools]])).toBe(before);
        expect(fake.requests.all.every(({ path }) => !path.includes(made.id))).toBe(true);
        return { trial, fake };
      };

      it('works with all of them, and counts chatflows without reading them', async () => {
        const { trial, fake } = await triedWith([...READS, ...WRITES]);
        expect(trial).toMatchObject({ ok: true, writes_tried: true, findings: [] });
        expect(
          trial.checks.filter(({ kind }: Payload) => kind === 'write').map(({ permission }: Payload) => permission),
        ).toEqual(WRITES);
        const [counted] = fake.requests.of('GET', '/chatflows');
        expect([fake.requests.count('GET', '/chatflows'), counted?.query.get('limit')]).toEqual([1, '1']);
        expect(trial.checks.find(({ check }: Payload) => check === 'chatflows').count).toBe(1);
      });

      it('names each that is missing; the one that is not needed is only shown', async () => {
        const { trial } = await triedWith([...READS, 'tools:delete']);
        expect(failing(trial)).toEqual([
          'create_chatflow FLOWISE_FORBIDDEN',
          'update_chatflow FLOWISE_FORBIDDEN',
          'delete_chatflow FLOWISE_FORBIDDEN',
          'create_tool FLOWISE_FORBIDDEN',
        ]);
        expect(trial.ok).toBe(false);
        expect(trial.findings.map((line: string) => /permission (\S+),/.exec(line)?.[1])).toEqual([
          'chatflows:create',
          'chatflows:update',
          'tools:create',
        ]);
        const { cli } = operations.find(({ name }) => name === 'server.test') ?? {};
        const card = await cli?.render(trial);
        expect(card).toMatch(/^create_chatflow +write +chatflows:create +fails +FLOWISE_FORBIDDEN$/m);
        expect(card).toMatch(/^delete_chatflow +write +chatflows:delete +fails, not needed/m);
        const without = await triedWith([...READS, ...WRITES.filter((each) => each !== 'chatflows:delete')]);
        expect(without.trial).toMatchObject({ ok: true, findings: [] });
      });

      it('is not believed where something else answers, or where it takes what Flowise refuses', async () => {
        const fake = await useFakeFlowise();
        const { ask } = await open();
        await ask('server.add', { name: 'lab', url: fake.url, api_key: fake.apiKey });
        fake.fault('PUT', '/chatflows/:id', { kind: 'answer', status: 404, body: { message: 'no route' } });
        fake.fault('POST', '/tools', { kind: 'answer', status: 200, body: { id: 'x' } });
        expect(failing(await ask('server.test', { name: 'lab' }))).toEqual([
          'update_chatflow FLOWISE_BAD_ANSWER',
          'create_tool FLOWISE_BAD_ANSWER',
        ]);
      });
    });

    it('stops at a key that is refused', async () => {
      const { trial } = await tested((server) => {
        server.on('/api/v1/nodes', json({ error: 'Unauthorized Access' }, 401));
      });
      expect(failing(trial)).toEqual(['nodes FLOWISE_UNAUTHORIZED']);
      expect(trial.findings[0]).toContain('does not accept the API key');
    });

    it('is an answer too when it is no Flowise, hangs or is down', async () => {
      const page = await tested((server) => server.on('/api/v1/ping', html()));
      expect(failing(page.trial)).toEqual(['ping FLOWISE_BAD_ANSWER']);
      const slow = await tested((server) => server.on('/api/v1/ping', hang), { FLOWISE_TIMEOUT: '1' });
      expect(failing(slow.trial)).toEqual(['ping FLOWISE_TIMEOUT']);
      const { ask, codeOf: refusalOf } = await open();
      await ask('server.add', { name: 'gone', url: 'http://127.0.0.1:1' });
      expect(failing(await ask('server.test', { name: 'gone' }))).toEqual(['ping FLOWISE_UNREACHABLE']);
      expect(await refusalOf('server.test', { name: 'never' })).toBe('FLOWISE_SERVER_UNKNOWN');
    });
  });
});
