import { openSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/home.ts';
import { flowright, type ProgramOptions } from '../support/program.ts';

interface Case {
  args: string[];
  code: string;
  status: 1 | 2;
  env?: Record<string, string>;
}

/** 1: the caller asked for something wrong or forbidden. 2: the program could not do what it should. */
const CASES: Case[] = [
  { args: ['flow', 'get', 'flow_not_there'], code: 'unknown_flow', status: 1 },
  { args: ['flow', 'get', 'not-an-id'], code: 'BAD_REQUEST', status: 1 },
  { args: ['flow', 'list', '--scope', 'galaxy'], code: 'BAD_REQUEST', status: 1 },
  { args: ['flow', 'list', '--limit', '0'], code: 'BAD_REQUEST', status: 1 },
  { args: ['flow', 'list', '--limit', 'many'], code: 'BAD_REQUEST', status: 1 },
  { args: ['flow', 'list', '--vault', 'nowhere'], code: 'NOT_FOUND', status: 1 },
  {
    args: ['flow', 'list', '--scope', 'project'],
    code: 'FLOW_SCOPE_DENIED',
    status: 1,
    env: { FLOWRIGHT_FLOW_VISIBLE_SCOPES: 'personal' },
  },
  { args: ['flow', 'list', '--request-id', 'with space'], code: 'USAGE_ERROR', status: 1 },
  { args: ['flow', 'get'], code: 'USAGE_ERROR', status: 1 },
  { args: ['flow', 'list', 'surplus'], code: 'USAGE_ERROR', status: 1 },
  { args: ['nonsense'], code: 'USAGE_ERROR', status: 1 },
  { args: ['flow', 'list', '--hub', 'ftp://nowhere'], code: 'CONFIG_INVALID', status: 1 },
  {
    args: ['flow', 'list'],
    code: 'DATABASE_UNAVAILABLE',
    status: 2,
    env: { DATABASE_URL: 'postgres://u:sesame@127.0.0.1:9/x' },
  },
];

describe('[S002-3-cli-errors] errors end with 1 or 2 and the hub’s code strings', () => {
  it.each(CASES)('$args is $code, exit $status', async ({ args, code, status, env }) => {
    const options: ProgramOptions = { home: tempFolder(), ...(env ? { env } : {}) };
    const spoken = await flowright(args, options);
    expect(spoken).toMatchObject({ status, stdout: '' });
    expect(spoken.stderr).toMatch(/^error: [^\n]+ \([A-Za-z_]+\)\n$/);
    expect(spoken.stderr).toContain(`(${code})`);
    expect(spoken.stderr).not.toMatch(/\.\.|sesame|\n\s+at /);

    const json = await flowright([...args, '--json'], options);
    expect(json).toMatchObject({ status, stdout: '' });
    const envelope = JSON.parse(json.stderr);
    expect(Object.keys(envelope)).toEqual(['error', 'code', 'message', 'details', 'request_id']);
    expect(envelope).toMatchObject({ code, error: envelope.message });
    expect(json.stderr).not.toContain('sesame');
  });

  it('a hub that is not there is HUB_UNREACHABLE with the reason, exit 2', async () => {
    const { status, stderr } = await flowright(['flow', 'list'], {
      home: tempFolder(),
      env: { FLOWRIGHT_HUB: `http://127.0.0.1:${await closedPort()}` },
    });
    expect(status).toBe(2);
    expect(stderr).toMatch(/HUB_UNREACHABLE/);
    expect(stderr).toMatch(/ECONNREFUSED/);
  });

  it('--request-id comes back in the envelope', async () => {
    const args = ['flow', 'get', 'flow_not_there', '--json', '--request-id', 'case-42'];
    const { stderr } = await flowright(args, { home: tempFolder() });
    expect(JSON.parse(stderr).request_id).toBe('case-42');
  });

  it('a data folder that is a file is named, not called an internal error', async () => {
    const home = join(tempFolder(), 'not-a-folder');
    writeFileSync(home, '');
    const { status, stderr } = await flowright(['flow', 'list'], { home });
    expect(status).not.toBe(0);
    expect(stderr).toContain(home);
    expect(stderr).not.toContain('INTERNAL_ERROR');
  });

  it('a damaged database is called by its name, and the message says what to do', async () => {
    const home = tempFolder();
    await flowright(['init'], { home });
    damagePages(join(home, 'flowright.db'));
    const { status, stderr } = await flowright(['flow', 'list'], { home });
    expect(status).toBe(2);
    expect(stderr).toContain('DATABASE_UNAVAILABLE');
    expect(stderr).toMatch(/doctor|restore/);
  });

  it('a message that asks for the request id shows it', async () => {
    const home = tempFolder();
    await flowright(['init'], { home });
    damagePages(join(home, 'flowright.db'));
    const { stderr } = await flowright(['flow', 'list', '--request-id', 'case-43'], { home });
    if (/report the request id/.test(stderr)) expect(stderr).toContain('case-43');
  });
});

/** Leaves the file's header alone: it opens, and fails when read. */
function damagePages(file: string): void {
  const rubbish = Buffer.alloc(4_096 * 20, 0xff);
  writeSync(openSync(file, 'r+'), rubbish, 0, rubbish.length, 4_096);
}

function closedPort(): Promise<number> {
  return new Promise((found) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => found(port));
    });
  });
}
