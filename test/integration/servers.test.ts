import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createServers } from '../../src/flowise/index.ts';
import { operations } from '../../src/flowise/servers/operations.ts';
import type { ServerBook } from '../../src/flowise/servers/server.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { resolveConfig } from '../../src/kernel/config.ts';
import type { FlowrightError } from '../../src/kernel/errors.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { makeVault, useLibrary } from '../data-integrity/library.ts';
import { ENGINES, onEachDatabase, onFirst } from '../support/databases.ts';
import { invoked, type Payload } from '../support/invoked.ts';
import { hang, html, json, type RudeServer, raw, startRudeServer } from '../support/rude-server.ts';

const KEY = 'Zk3-key-of-the-added-server_9f';
const URL = 'http://127.0.0.1:3000';

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
      const { ask, flowise } = await open();
      expect(await codeOf(flowise.client('default'))).toBe('FLOWISE_SERVER_UNKNOWN');
      await ask('server.add', { name: 'a', url: URL });
      expect((await flowise.client('default')).server).toBe('a');
      await ask('server.add', { name: 'b', url: URL });
      const error = (await flowise.client('default').catch((thrown: unknown) => thrown)) as FlowrightError;
      expect(error).toMatchObject({ code: 'FLOWISE_SERVER_UNKNOWN', details: { servers: ['a', 'b'] } });
      expect(error.message).toContain('a, b');
      await ask('server.add', { name: 'default', url: URL });
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
      ['viewer', 'user', ['done', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']],
      ['editor', 'user', ['done', 'done', 'FORBIDDEN', 'FORBIDDEN']],
      ['editor', 'agent', ['done', 'done', 'FORBIDDEN', 'FORBIDDEN']],
      ['admin', 'agent', ['done', 'done', 'FORBIDDEN', 'FORBIDDEN']],
      ['admin', 'user', ['done', 'done', 'done', 'done']],
    ] as const;
    once('list, test, add and remove', async () => {
      const { ask, codeOf: refusalOf } = await open();
      const { url } = await start();
      await ask('server.add', { name: 'lab', url });
      for (const [role, kind, expected] of table) {
        const asking = { role, kind };
        const codes = [
          await refusalOf('server.list', {}, asking),
          await refusalOf('server.test', { name: 'lab' }, asking),
          await refusalOf('server.add', { name: 'lab', url }, asking),
          await refusalOf('server.remove', { name: 'lab' }, asking),
        ];
        expect([role, kind, codes]).toEqual([role, kind, expected]);
      }
    });

    it('adding and removing have no MCP tool', () => {
      expect(operations.filter(({ mcp }) => mcp).map(({ name }) => name)).toEqual(['server.list', 'server.test']);
    });
  });

  // What a server answers differs in nothing by engine.
  if (engine !== ENGINES[0]) return;
  describe('[FLR-servers-test] testing a server', () => {
    const behave = (server: RudeServer): void => {
      server.on('/api/v1/ping', raw('pong', 'text/html'));
      server.on('/api/v1/version', json({ version: '3.1.4' }));
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
      expect(trial).toMatchObject({ ok: true, name: 'lab', flowise_version: '3.1.4', findings: [] });
      expect(trial.checks[1]).toEqual({
        check: 'nodes',
        ok: true,
        permission: null,
        count: 1,
        code: null,
        message: null,
      });
      expect(new Set(server.received.map(({ method }) => method))).toEqual(new Set(['GET']));
      const { cli } = operations.find(({ name }) => name === 'server.test') ?? {};
      expect(cli?.isBadNews?.(trial)).toBe(false);
      expect(await cli?.render(trial)).toContain('Everything that was tried works.');
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
