import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { flowright, type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { must, tokenFor } from './people.ts';
import { ask, expectRefusal, type Question } from './rest.ts';

let store: TestStore;
let options: ProgramOptions;
let hub: Hub;
let token: string;
let viewer: string;
let vault: string;

const SECRET = 'never to be seen';
const note = (encoded: string, question: Question = {}) => ask(hub, `/api/v1/notes/${encoded}`, { token, ...question });
const put = (encoded: string, body = 'x') => note(encoded, { method: 'PUT', json: { body } });

/** Everything in the data folder outside the vault, so that a write there shows. */
function outside(): string[] {
  return readdirSync(store.home, { recursive: true, encoding: 'utf8' })
    .filter((path) => !/^(vaults\/default\/|flowright\.db|hub\.)/.test(path))
    .sort();
}

beforeAll(async () => {
  store = await makeStore('sqlite');
  options = { home: store.home };
  vault = join(store.home, 'vaults', 'default');
  await must(['vault', 'create', 'other'], options);
  for (const folder of ['projects', 'meta/flows', 'approvals', '.git'])
    mkdirSync(join(vault, folder), { recursive: true });
  mkdirSync(join(store.home, 'vaults', 'other'));
  for (const path of [
    'vaults/other/secret.md',
    'secret.md',
    'vaults/secret.md',
    'vaults/default/meta/flows/secret.md',
  ]) {
    writeFileSync(join(store.home, path), SECRET);
  }
  writeFileSync(join(vault, '.git', 'config.md'), SECRET);
  writeFileSync(join(vault, 'projects', 'here.md'), 'visible');
  token = await tokenFor(options, 'local');
  viewer = await tokenFor(options, 'vera', { role: 'viewer' });
  hub = await startHub(options);
});

afterAll(async () => {
  await hub?.stop();
  await store?.remove();
});

describe('[FLR-notes] a path that leads out of the vault', () => {
  const ways = [
    '..%2Fsecret.md',
    '..%2F..%2Fsecret.md',
    '%2e%2e%2fsecret.md',
    '%2E%2E%2Fother%2Fsecret.md',
    'projects%2F..%2F..%2Fother%2Fsecret.md',
    'projects%2F..%2Fprojects%2Fhere.md',
    '.%2Fprojects%2Fhere.md',
    'projects%2F%2Fhere.md',
    '%2Fetc%2Fpasswd.md',
    '%2Fprojects%2Fhere.md',
    '..%5C..%5Csecret.md',
    'projects%5Chere.md',
    'C%3A%5Csecret.md',
    'C%3Asecret.md',
    'c%3A%2Fsecret.md',
    '%2F%2Fserver%2Fshare%2Fsecret.md',
    '..%2Fsecret.md%00.md',
    'projects%2Fhere.md%00',
    'projects%2Fhere.md%0a.md',
    '..%252Fsecret.md',
    '..%c0%afsecret.md',
    '%c0%ae%c0%ae%2Fsecret.md',
    '.git%2Fconfig.md',
    'projects%2F.git%2Fconfig.md',
    '.md',
    'projects%2F.md',
    'projects.%2Fhere.md',
    'projects%20%2Fhere.md',
    'projects%2Fhere.md.',
    'projects%2Fhere.md%20',
    'projects%2Fhere',
    'projects%2Fhere.MD',
    'NUL.md',
    'projects%2Fcon%2Fx.md',
    `${'a'.repeat(253)}.md`,
    `${'a'.repeat(2_000)}.md`,
    `${'a%2F'.repeat(400)}x.md`,
    'projects%2Fe%CC%81.md',
    'projects%2F%E2%80%AEdm.md',
    'projects%2F%ED%A0%80.md',
  ];

  it.each(ways)('is refused when it is asked for: %s', async (way) => {
    const reply = await note(way);
    expectRefusal(reply, 400, 'BAD_REQUEST');
    expect(reply.text).not.toContain(SECRET);
  });

  it.each(ways)('is refused when it is written, and nothing is: %s', async (way) => {
    const before = [outside(), readdirSync(vault, { recursive: true }).sort()];
    expectRefusal(await put(way), 400, 'BAD_REQUEST');
    expect([outside(), readdirSync(vault, { recursive: true }).sort()]).toEqual(before);
  });

  it.each([
    '/api/v1/notes/../../../secret.md',
    '/api/v1/notes/projects/here.md',
    '/api/v1/notes//',
    '/api/v1/notes/%2e%2e/flows',
  ])('is nowhere when it is not encoded: %s', async (path) => {
    const reply = await ask(hub, path, { token });
    expect([400, 404]).toContain(reply.status);
    expect(reply.text).not.toContain(SECRET);
  });

  it.each(['../secret.md', '/etc/passwd.md', 'projects/../../../secret.md', '.git/config.md', 'a\\b.md'])(
    'is refused at the command line as well: %s',
    async (path) => {
      const { status, stderr } = await flowright(['note', 'get', path, '--json'], options);
      expect([status, JSON.parse(stderr).code]).toEqual([1, 'BAD_REQUEST']);
    },
  );

  it.each(['..', '../other', 'projects/../..', '/..', '.git', 'projects/.git', 'C:', 'a\\b', 'a\u0000', './projects'])(
    'is refused as the folder of a list: %j',
    async (prefix) => {
      const reply = await ask(hub, `/api/v1/notes?prefix=${encodeURIComponent(prefix)}`, { token });
      expectRefusal(reply, 400, 'BAD_REQUEST');
    },
  );

  it('does no harm as a cursor', async () => {
    for (const cursor of ['../', '/etc/', '..%2F..%2F', '\u0000', '\uffff']) {
      const { status, text } = await ask(hub, `/api/v1/notes?cursor=${encodeURIComponent(cursor)}`, { token });
      expect(status).toBe(200);
      expect(text).not.toMatch(/secret|passwd/);
    }
  });

  it('is decoded once: what is still encoded then is part of a name', async () => {
    expectRefusal(await note('%252e%252e%252Fsecret.md'), 404, 'NOT_FOUND');
    expect((await put('%252e%252e%252Fname.md')).status).toBe(200);
    expect(readdirSync(vault)).toContain('%2e%2e%2Fname.md');
  });

  it('is refused for a vault that does not exist or is named like a path', async () => {
    for (const id of ['../default', '..', 'default/../other', '%2e%2e', '__proto__']) {
      expectRefusal(await note('secret.md', { headers: { 'x-vault-id': id } }), 404, 'NOT_FOUND');
    }
    expect(readdirSync(join(store.home, 'vaults')).sort()).toEqual(['default', 'other', 'secret.md']);
  });
});

describe('[FLR-notes] a symbolic link', () => {
  const inVault = (path: string) => join(vault, path);

  beforeAll(() => {
    mkdirSync(inVault('links'));
    symlinkSync(join(store.home, 'secret.md'), inVault('links/file.md'));
    symlinkSync('../projects/here.md', inVault('links/inside.md'));
    symlinkSync(join(store.home, 'vaults', 'other'), inVault('links/folder'));
    symlinkSync('../meta/flows', inVault('links/alias'));
    symlinkSync('..', inVault('links/up'));
    symlinkSync('nowhere', inVault('links/dangling'));
    symlinkSync('nowhere.md', inVault('links/dangling.md'));
    symlinkSync('loop', inVault('links/loop'));
  });

  const LINKED = [
    'links/file.md',
    'links/inside.md',
    'links/folder/secret.md',
    'links/alias/secret.md',
    'links/up/projects/here.md',
    'links/dangling/x.md',
    'links/dangling.md',
    'links/loop/x.md',
  ];

  it.each(LINKED)('is not followed by a reader: %s', async (path) => {
    const reply = await note(encodeURIComponent(path));
    expectRefusal(reply, 422, 'NOTE_UNREADABLE');
    expect(reply.text).not.toMatch(new RegExp(`${SECRET}|visible|${store.home}`));
  });

  it.each([...LINKED, 'links/folder/new.md', 'links/alias/new.md', 'links/dangling/deep/x.md'])(
    'is not followed by a writer, nor replaced: %s',
    async (path) => {
      const before = outside();
      expectRefusal(await put(encodeURIComponent(path), 'overwritten'), 422, 'NOTE_UNREADABLE');
      expect(outside()).toEqual(before);
      expect(readFileSync(join(store.home, 'secret.md'), 'utf8')).toBe(SECRET);
      expect(readFileSync(inVault('projects/here.md'), 'utf8')).toBe('visible');
      expect(existsSync(inVault('links/nowhere'))).toBe(false);
    },
  );

  it('is neither listed nor entered by a list', async () => {
    const { text } = await ask(hub, '/api/v1/notes', { token });
    expect(text).not.toContain('links');
    for (const prefix of ['links', 'links/folder', 'links/up', 'links/loop']) {
      const { body } = await ask(hub, `/api/v1/notes?prefix=${encodeURIComponent(prefix)}`, { token });
      expect(body.notes).toEqual([]);
    }
  });

  it('that somebody put in place of the vault itself is the owner’s choice', async () => {
    await must(['vault', 'create', 'moved'], options);
    mkdirSync(join(store.home, 'elsewhere'));
    symlinkSync(join(store.home, 'elsewhere'), join(store.home, 'vaults', 'moved'));
    const headers = { 'x-vault-id': 'moved' };
    expect((await note('a.md', { method: 'PUT', json: { body: 'x' }, headers })).status).toBe(200);
    expect(readdirSync(join(store.home, 'elsewhere'))).toEqual(['a.md']);
  });
});

describe('[FLR-notes] what is not a plain file', () => {
  it('is not read, and a reader does not wait for it', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(vault, 'pipe.md')]);
    mkdirSync(join(vault, 'folder.md'));
    for (const path of ['pipe.md', 'folder.md']) {
      expectRefusal(await note(path), 422, 'NOTE_UNREADABLE');
      expectRefusal(await put(path), 422, 'NOTE_UNREADABLE');
    }
    const { text } = await ask(hub, '/api/v1/notes', { token });
    expect(text).not.toMatch(/pipe|folder\.md/);
  });

  it('is replaced as a name and never written through: a second name of a file keeps its text', async () => {
    writeFileSync(join(store.home, 'precious'), 'precious');
    linkSync(join(store.home, 'precious'), join(vault, 'hard.md'));
    const { state_id } = (await note('hard.md')).body;
    const json = { body: 'new', base_state_id: state_id };
    expect((await note('hard.md', { method: 'PUT', json })).status).toBe(200);
    expect(readFileSync(join(store.home, 'precious'), 'utf8')).toBe('precious');
  });
});

describe('[FLR-notes] notes of the server', () => {
  const NAMES = [
    'meta/flows/secret.md',
    'Meta/flows/secret.md',
    'meta/FLOWS/secret.md',
    'META/FLOWS/SECRET.md',
    'meta/ﬂows/secret.md',
    'meta/flowſ/secret.md',
    'ｍeta/flows/secret.md',
    'meta/flo\u200bws/secret.md',
    'Approvals/secret.md',
    'approvalſ/secret.md',
  ];

  it.each(NAMES)('are hidden from who may not see the flow, whatever the spelling: %j', async (path) => {
    const reply = await note(encodeURIComponent(path), { token: viewer });
    expectRefusal(reply, 404, 'NOT_FOUND');
    expect(reply.text).not.toContain(SECRET);
  });

  it.each(NAMES)('are written by nobody else, whatever the spelling: %j', async (path) => {
    expectRefusal(await put(encodeURIComponent(path)), 403, 'FORBIDDEN');
    expect(readFileSync(join(vault, 'meta/flows/secret.md'), 'utf8')).toBe(SECRET);
  });

  it('do not show in a list, nor by a cursor or a count', async () => {
    const all = await ask(hub, '/api/v1/notes?prefix=meta&limit=1', { token: viewer });
    expect(all.body).toMatchObject({ notes: [], next_cursor: null });
    const flows = await ask(hub, '/api/v1/notes?prefix=meta%2Fflows', { token: viewer });
    expect(flows.body).toMatchObject({ notes: [], next_cursor: null });
  });
});

describe('[FLR-notes] a front block made to cost', () => {
  const heavy = (yaml: string) => `---\n${yaml}\n---\nbody`;
  const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    .concat(Array.from({ length: 20 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`))
    .join('\n');

  it.each([
    ['a bomb of aliases', heavy(bomb)],
    ['sixty thousand brackets', heavy(`a: ${'['.repeat(60_000)}`)],
    ['fifty thousand keys', heavy(Array.from({ length: 25_000 }, (_, at) => `k${at}: 1`).join('\n'))],
    ['more than it may hold', heavy(`a: ${'x'.repeat(300_000)}`)],
    ['more than a file may hold', 'x'.repeat(5_000_000)],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0xd8])],
  ])('is refused in a moment, and the hub goes on: %s', async (_what, text) => {
    writeFileSync(join(vault, 'heavy.md'), text);
    const start = performance.now();
    expectRefusal(await note('heavy.md'), 422, 'NOTE_UNREADABLE');
    expect(performance.now() - start).toBeLessThan(5_000);
    expect((await ask(hub, '/api/v1/health')).status).toBe(200);
  });

  it('in a request is refused before it is written', async () => {
    const frontmatter = `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
    const raw = `{"body":"x","frontmatter":${frontmatter}}`;
    const headers = { 'content-type': 'application/json' };
    expectRefusal(await note('deep.md', { method: 'PUT', raw, headers }), 400, 'BAD_REQUEST');
  });

  it('cannot change what objects are', async () => {
    const raw = '{"body":"x","frontmatter":{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}}';
    const headers = { 'content-type': 'application/json' };
    expect((await note('proto.md', { method: 'PUT', raw, headers })).status).toBe(200);
    const { text } = await note('proto.md');
    expect(text).toContain('"__proto__":{"admin":true}');
    expect((await ask(hub, '/api/v1/whoami', { token: viewer })).body).toMatchObject({ role: 'viewer' });
  });
});
