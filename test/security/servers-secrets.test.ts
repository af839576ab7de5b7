import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useStore } from '../data-integrity/library.ts';
import { onFirstDatabase, type TestStore } from '../support/databases.ts';
import { openInProcessHub, outcome } from '../support/in-process-hub.ts';
import { flowright, flowrightJson } from '../support/program.ts';
import { json, startRudeServer } from '../support/rude-server.ts';
import { HAS_TMUX, openTerminal } from '../support/terminal.ts';

const KEY = 'Zk3-key-that-nobody-sees_9f';
const PASSWORD = 'hunter2-password';

/** Every file of the data folder that holds one of the texts, in whatever encoding they might lie there. */
function filesWith(folder: string, texts: string[]): string[] {
  const forms = texts.flatMap((text) => [text, Buffer.from(text).toString('base64').replace(/=+$/, '')]);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name);
    if (!statSync(path).isFile()) return false;
    const content = readFileSync(path);
    return forms.some((form) => content.includes(form));
  });
}

onFirstDatabase((_engine, makeStore) => {
  const program = (store: TestStore) => ({ home: store.home, databaseUrl: store.databaseUrl });

  describe('[FLR-servers-command] server add', () => {
    it('takes the key from standard input or an option, and leaves it readable nowhere', async () => {
      const store = await useStore(makeStore);
      const url = 'http://127.0.0.1:3000';
      const added = await flowright(['server', 'add', 'lab', '--url', url, '--api-key', '-', '--default'], {
        ...program(store),
        input: `${KEY}\nanother line\n`,
      });
      expect([added.status, added.stderr]).toEqual([0, '']);
      expect(added.stdout).toContain('Flowise server lab (http://127.0.0.1:3000) is added; it is asked with API key.');
      expect(added.stdout).toContain('flowright knowledge refresh --all --from-api --server lab');
      const old = ['server', 'add', 'old', '--url', url, '--username', 'admin', '--password', PASSWORD];
      expect(await flowrightJson(old, program(store))).toMatchObject({ item: { auth: 'basic', is_default: false } });
      expect(filesWith(store.home, [KEY, PASSWORD])).toEqual([]);
      expect(statSync(join(store.home, 'sealing.key')).mode & 0o077).toBe(0);
      const list = await flowright(['server', 'list'], program(store));
      expect(list.stdout).toMatch(/^lab +API key +added +yes +http:\/\/127\.0\.0\.1:3000$/m);
    });

    it('says what to mend, and never what was typed', async () => {
      const store = await useStore(makeStore);
      const wrong = ['server', 'add', 'lab', '--url', `ftp://x:${PASSWORD}@host`, '--api-key', `${KEY} x`];
      const { status, stderr } = await flowright(wrong, program(store));
      expect(status).toBe(1);
      expect(stderr).toContain('--url');
      expect(stderr).not.toMatch(/Zk3|hunter2/);
      const empty = await flowright(['server', 'add', 'lab', '--url', 'http://h', '--api-key', '-'], program(store));
      expect(empty.stderr).toContain('standard input');
    });

    it.skipIf(!HAS_TMUX)('asks for the key on a terminal without showing it', async () => {
      const store = await useStore(makeStore);
      const server = await startRudeServer();
      onTestFinished(() => server.close());
      server.on('/api/v1/ping', json({}));
      const args = ['server', 'add', 'lab', '--url', server.url];
      const terminal = await openTerminal(store.home, args, program(store));
      onTestFinished(() => terminal.close());
      await terminal.shows(/API key \(not shown/);
      await terminal.presses(KEY, 'Enter');
      const screen = await terminal.shows(/ended with 0/);
      expect(screen).toContain('it is asked with API key');
      expect(screen).not.toContain('Zk3');
      const tested = await flowright(['server', 'test', 'lab'], program(store));
      expect(tested.status).toBe(1);
      expect(tested.stdout).toContain('FLOWISE_BAD_ANSWER');
      expect(server.received[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    });
  });

  describe('[FLR-servers-sealed] over the hub', () => {
    it('a key goes in and never comes out', async () => {
      const store = await useStore(makeStore);
      const hub = await openInProcessHub(store);
      onTestFinished(() => hub.close());
      const body = { url: 'http://127.0.0.1:1', api_key: KEY };
      const answers = [
        await hub.owner.put('/api/v1/servers/lab', body),
        await hub.owner.get('/api/v1/servers'),
        await hub.owner.get('/api/v1/servers/lab/test'),
        await hub.owner.put('/api/v1/servers/lab', { ...body, api_key: `${KEY}\n` }),
        await hub.owner.get('/api/v1/audit'),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400, 200]);
      expect(JSON.stringify(answers)).not.toContain('Zk3');
      const viewer = await hub.asker('vera', { role: 'viewer' });
      expect(await outcome(viewer.get('/api/v1/servers'))).toBe('200');
      expect(await outcome(viewer.put('/api/v1/servers/lab', body))).toBe('FORBIDDEN');
      expect(await outcome(viewer.send('DELETE', '/api/v1/servers/lab'))).toBe('FORBIDDEN');
      expect(await outcome(hub.owner.send('DELETE', '/api/v1/servers/lab'))).toBe('200');
    });
  });
});
