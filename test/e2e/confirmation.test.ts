import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder } from '../support/home.ts';
import { flowright, flowrightJson, type Hub, startHub } from '../support/program.ts';

interface Token {
  token: string;
  token_id: string;
  role: string;
  vault_id: string;
}

describe('what removes something asks first', () => {
  const { folder: home, remove } = makeFolder();
  let hub: Hub;
  let own: Token;
  let sam: Token;

  beforeAll(async () => {
    own = await flowrightJson<Token>(['token', 'create', '--user', 'local'], { home });
    sam = await flowrightJson<Token>(['token', 'create', '--user', 'sam', '--role', 'editor'], { home });
    hub = await startHub({ home });
  });
  afterAll(async () => {
    await hub?.stop();
    remove();
  });

  const destructive = () => [
    ['token', 'revoke', sam.token_id],
    ['member', 'remove', 'sam'],
    ['user', 'disable', 'sam'],
  ];
  const whoIsSam = () =>
    fetch(new URL('/api/v1/whoami', hub.url), { headers: { authorization: `Bearer ${sam.token}` } });

  it.each(['locally', 'over a hub'])(
    'and refuses %s where nobody can answer, without removing anything',
    async (way) => {
      const env = way === 'locally' ? {} : { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: own.token };
      for (const args of destructive()) {
        const spoken = await flowright(args, { home, env, input: 'y\n' });
        expect({ status: spoken.status, stdout: spoken.stdout }, args.join(' ')).toEqual({ status: 1, stdout: '' });
        expect(spoken.stderr).toContain('CONFIRMATION_REQUIRED');
        expect(spoken.stderr).toContain('--yes');
        const json = await flowright([...args, '--json'], { home, env });
        expect(JSON.parse(json.stderr)).toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
      }
      expect(await (await whoIsSam()).json()).toMatchObject({ user_id: 'sam', role: 'editor' });
    },
  );

  it('restore refuses as well, and the database stays', async () => {
    const { folder: elsewhere, remove: removeElsewhere } = makeFolder();
    await flowrightJson(['init'], { home: elsewhere });
    await flowrightJson(['backup', join(elsewhere, 'copy.db')], { home: elsewhere });
    await flowrightJson(['user', 'create', 'later'], { home: elsewhere });
    const { status, stderr } = await flowright(['restore', join(elsewhere, 'copy.db')], { home: elsewhere });
    expect(status).toBe(1);
    expect(stderr).toContain('CONFIRMATION_REQUIRED');
    expect(JSON.stringify(await flowrightJson(['user', 'list'], { home: elsewhere }))).toContain('later');
    removeElsewhere();
  });

  it('restore refuses while a hub holds the home', async () => {
    writeFileSync(join(home, 'copy.db'), '');
    const { status, stderr } = await flowright(['restore', join(home, 'copy.db'), '--yes'], { home });
    expect(status).toBe(1);
    expect(stderr).toContain('HUB_RUNNING');
  });

  it('goes ahead with --yes', async () => {
    const { status, stdout } = await flowright(['token', 'revoke', sam.token_id, '--yes'], { home });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${sam.token_id} is revoked.\n` });
    expect((await whoIsSam()).status).toBe(401);
  });
});

describe('token create', () => {
  it('[FLR-token-lifecycle] --user --role --vault --json has the token, for that vault', async () => {
    const { folder: home, remove } = makeFolder();
    await flowrightJson(['vault', 'create', 'research'], { home });
    const args = ['token', 'create', '--user', 'kim', '--role', 'evaluator', '--vault', 'research'];
    const created = await flowrightJson<Token>(args, { home });
    expect(created).toMatchObject({ user_id: 'kim', role: 'evaluator', vault_id: 'research' });
    expect(created.token).toMatch(/^flw_[A-Za-z0-9_-]{40,}$/);
    const spoken = await flowright(args, { home });
    expect(spoken.stdout).toMatch(/^flw_\S+\n/);
    expect(spoken.stdout).toContain('not shown again');
    remove();
  });

  it('a refused command is found in the audit log by the request id of its envelope', async () => {
    const { folder: home, remove } = makeFolder();
    const { stderr } = await flowright(['token', 'create', '--user', 'kim', '--json'], { home });
    const { code, request_id } = JSON.parse(stderr);
    expect(code).toBe('BAD_REQUEST');
    const { entries } = await flowrightJson<{ entries: { request_id: string }[] }>(['audit', 'list'], { home });
    expect(entries.map((entry) => entry.request_id)).toContain(request_id);
    remove();
  });
});
