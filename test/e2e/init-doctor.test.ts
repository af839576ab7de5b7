import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeStore } from '../support/databases.ts';
import { makeFolder, tempFolder } from '../support/home.ts';
import { flowright, flowrightJson } from '../support/program.ts';

interface Finding {
  state: 'good' | 'warning' | 'wrong';
  what: string;
  fix?: string;
}

/** Any free port will do, unless a test is about the port. */
const ANY_PORT = { FLOWRIGHT_PORT: '0' };
const prepared = makeFolder();

beforeAll(() => flowrightJson(['init'], { home: prepared.folder }));
afterAll(() => prepared.remove());

describe('[FLR-init-doctor] init', () => {
  it('makes an empty folder ready: settings, database, owner, six flows', async () => {
    const home = join(tempFolder(), 'deep', 'home');
    const { status, stdout, stderr } = await flowright(['init'], { home });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(`${home} is ready: sqlite database, identity local, 6 flows.`);
    expect(stdout).toContain('flowright hub');
    expect(readdirSync(home).sort()).toEqual(['config.yaml', 'flowright.db']);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(statSync(join(home, 'config.yaml')).mode & 0o777).toBe(0o600);
    expect(await flowrightJson(['whoami'], { home })).toMatchObject({ user_id: 'local', role: 'admin' });
  });

  it('changes nothing the second time and keeps what a person wrote', async () => {
    const home = tempFolder();
    const settings = '# mine\nidentity: local\ntoken_days: 7\n';
    writeFileSync(join(home, 'config.yaml'), settings);
    const first = await flowrightJson(['init'], { home });
    expect(first).toEqual({
      home,
      config: join(home, 'config.yaml'),
      database: 'sqlite',
      identity: 'local',
      flows: 6,
    });
    expect(await flowrightJson(['init'], { home })).toEqual(first);
    expect(readFileSync(join(home, 'config.yaml'), 'utf8')).toBe(settings);
  });
});

describe('[FLR-init-doctor] doctor', () => {
  it('finds nothing wrong with a fresh home and ends with 0', async () => {
    const home = readyHome();
    const { status, stdout, stderr } = await flowright(['doctor'], { home, env: ANY_PORT });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThanOrEqual(8);
    for (const line of lines) expect(line).toMatch(/^ ok {4}\S/);
    for (const word of [
      'Node.js',
      '6 starter flows',
      'config.yaml',
      'sqlite',
      'local, admin of vault default',
      'audit',
    ])
      expect(stdout).toContain(word);
    const { ok, findings } = await examine(home);
    expect(ok).toBe(true);
    expect(findings.every(({ state, fix }) => state === 'good' && fix === undefined)).toBe(true);
  });

  it('works on PostgreSQL too', async () => {
    const store = await makeStore('postgres');
    onTestFinished(() => store.remove());
    const options = { home: store.home, databaseUrl: store.databaseUrl, env: ANY_PORT };
    await flowright(['init'], options);
    const { status, stdout } = await flowright(['doctor'], options);
    expect({ status, isSound: /postgres database/.test(stdout) }).toEqual({ status: 0, isSound: true });
  });

  it.each([
    ['config.yaml that is no YAML', 'identity: [local\n', /config\.yaml is not valid YAML/],
    ['an unknown setting', 'identitty: local\n', /unknown setting identitty/],
    ['a value out of bounds', 'identity: local\ntoken_days: 0\n', /token_days \(config\.yaml\) must be a whole number/],
    ['an identity that is no member', 'identity: nobody\n', /nobody is not a member of vault default/],
    ['a vault that is not there', 'identity: local\nvault: nowhere\n', /local is not a member of vault nowhere/],
  ])('names %s and where to mend it, and ends with 1', async (_fault, settings, what) => {
    const home = readyHome();
    writeFileSync(join(home, 'config.yaml'), settings);
    const finding = await fault(home);
    expect(finding).toMatchObject({ state: 'wrong', what: expect.stringMatching(what) });
    expect(finding?.fix).toContain('config.yaml');
  });

  it('names a database server that does not answer, without its password, and ends with 1', async () => {
    const home = readyHome();
    const finding = await fault(home, { DATABASE_URL: 'postgres://sam:sesame@127.0.0.1:9/flowright' });
    expect(finding?.what).toMatch(/PostgreSQL at postgres:\/\/sam:\[secret\]@127\.0\.0\.1:9\/flowright .*ECONNREFUSED/);
    expect(finding?.fix).toContain('DATABASE_URL');
  });

  it('names a database file that is no database, says to restore a backup, and ends with 1', async () => {
    const home = readyHome();
    writeFileSync(join(home, 'flowright.db'), 'This is not a database, whatever its name says.'.repeat(200));
    const finding = await fault(home);
    expect(finding?.what).toContain(join(home, 'flowright.db'));
    expect(finding?.fix).toMatch(/restore/);
  });

  it('names a database that was damaged inside, says to restore a backup, and ends with 1', async () => {
    const home = readyHome();
    const bytes = readFileSync(join(home, 'flowright.db'));
    writeFileSync(join(home, 'flowright.db'), bytes.fill(0xff, 4_096, 4_096 * 30));
    const finding = await fault(home);
    expect(finding?.what).toMatch(/malformed|damaged/);
    expect(finding?.fix).toMatch(/restore/);
  });

  it('gives advice that works: a damaged home is whole again after restore', async () => {
    const home = readyHome();
    await flowrightJson(['backup', join(home, 'copy.db')], { home });
    writeFileSync(join(home, 'flowright.db'), 'rubbish'.repeat(2_000));
    const { status, stderr } = await flowright(['restore', join(home, 'copy.db'), '--yes'], { home });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect((await examine(home)).ok).toBe(true);
    expect((await flowrightJson<{ flows: unknown[] }>(['flow', 'list'], { home })).flows).toHaveLength(6);
  });

  it('names the line at which somebody changed the audit log, and ends with 1', async () => {
    const home = readyHome();
    for (const user of ['ann', 'bob', 'eve']) await flowright(['user', 'create', user], { home });
    const database = new BetterSqlite3(join(home, 'flowright.db'));
    database.prepare(`update audit set user_id = 'mallory' where sequence = 2`).run();
    database.close();
    expect((await fault(home))?.what).toContain('broken at line 2');
  });

  it('names the node whose config would stop the next start, and ends with 1', async () => {
    const home = readyHome();
    const database = new BetterSqlite3(join(home, 'flowright.db'));
    database.prepare(`update flowchart_nodes set config_contract = 0, config_json = ''  where id = 1`).run();
    database.prepare(`update flowchart_nodes set config_contract = 0, config_json = '[1]' where id = 2`).run();
    const finding = await fault(home);
    expect(finding?.what).toContain('flowchart_nodes.id 2 of flowchart 1');
    expect(finding?.fix).toContain(`update flowchart_nodes set config_json = '{}' where id = 2`);
    database.prepare(`update flowchart_nodes set config_json = '{}' where id = 2`).run();
    database.close();
    expect((await examine(home)).ok).toBe(true);
  });

  it('says which model nodes ask and whether there is a key, but never the key', async () => {
    const home = readyHome();
    const keys = { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' };
    const told = async (env: Record<string, string>) => (await examine(home, { ...keys, ...env })).findings;
    expect(await told({})).toContainEqual({ state: 'good', what: expect.stringContaining('no model is configured') });
    const model = { FLOWRIGHT_LLM: 'openai:gpt-5-mini' };
    expect(await warning(home, { ...keys, ...model })).toEqual({
      state: 'warning',
      what: 'nodes ask openai:gpt-5-mini, but there is no key',
      fix: 'Set FLOWRIGHT_LLM_API_KEY or OPENAI_API_KEY.',
    });
    const withKey = await told({ ...model, OPENAI_API_KEY: 'sk-sesame' });
    expect(withKey).toContainEqual({ state: 'good', what: 'nodes ask openai:gpt-5-mini, with a key' });
    expect(JSON.stringify(withKey)).not.toContain('sesame');
  });

  it('warns about a home that others can read, says how to close it, and ends with 0', async () => {
    const home = readyHome();
    chmodSync(home, 0o755);
    expect(await warning(home)).toEqual({
      state: 'warning',
      what: expect.stringContaining(home),
      fix: `chmod 700 ${home}`,
    });
  });

  it('warns about a port that another program holds, and ends with 0', async () => {
    const home = readyHome();
    const port = await takenPort();
    const finding = await warning(home, { FLOWRIGHT_PORT: String(port) });
    expect(finding?.what).toContain(`127.0.0.1:${port} cannot be used (EADDRINUSE)`);
    expect(finding?.fix).toContain('FLOWRIGHT_PORT');
  });

  it('warns when no identity is configured, and says what to add', async () => {
    const home = readyHome();
    writeFileSync(join(home, 'config.yaml'), '');
    expect((await warning(home))?.fix).toContain('identity: local');
  });

  it('says to run init when nothing is there yet', async () => {
    const home = tempFolder();
    mkdirSync(home, { recursive: true });
    expect((await warning(home))?.fix).toContain('flowright init');
  });
});

/** A copy of a home that init made. */
function readyHome(): string {
  const home = tempFolder();
  cpSync(prepared.folder, home, { recursive: true });
  return home;
}

async function examine(home: string, env = {}): Promise<{ ok: boolean; status: number | null; findings: Finding[] }> {
  const { status, stdout, stderr } = await flowright(['doctor', '--json'], { home, env: { ...ANY_PORT, ...env } });
  expect(stderr).toBe('');
  return { ...JSON.parse(stdout), status };
}

/** The one thing that is wrong; both forms must say so, and end with 1. */
async function fault(home: string, env = {}): Promise<Finding | undefined> {
  const { ok, status, findings } = await examine(home, env);
  const wrong = findings.filter(({ state }) => state === 'wrong');
  expect(wrong).toHaveLength(1);
  expect(ok).toBe(false);
  const spoken = await flowright(['doctor'], { home, env: { ...ANY_PORT, ...env } });
  expect(spoken.stdout).toContain(` FAIL  ${wrong[0]?.what}\n       ${wrong[0]?.fix}\n`);
  // Soft: what was found and how to mend it are still checked by the caller.
  expect.soft({ json: status, spoken: spoken.status }).toEqual({ json: 1, spoken: 1 });
  return wrong[0];
}

async function warning(home: string, env = {}): Promise<Finding | undefined> {
  const { ok, status, findings } = await examine(home, env);
  expect({ ok, status }).toEqual({ ok: true, status: 0 });
  const odd = findings.filter(({ state }) => state !== 'good');
  expect(odd.map(({ state }) => state)).toEqual(['warning']);
  return odd[0];
}

function takenPort(): Promise<number> {
  return new Promise((taken) => {
    const holder = createServer().listen(0, '127.0.0.1', () => taken((holder.address() as { port: number }).port));
    onTestFinished(() => void holder.close());
  });
}
