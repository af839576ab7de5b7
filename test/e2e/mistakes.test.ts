import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../support/home.ts';
import { flowright, flowrightJson, startHub } from '../support/program.ts';

it('[FLR-backup-restore] a backup never replaces a file that is not one', async () => {
  const home = tempFolder();
  await flowright(['init'], { home });
  const { status, stderr } = await flowright(['backup', join(home, 'config.yaml')], { home });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('is no Flowright backup') });
  expect((await flowright(['flow', 'list'], { home })).status).toBe(0);
});

it('a command of this machine refuses --hub instead of ignoring it', async () => {
  const home = tempFolder();
  const { status, stderr } = await flowright(['signin', '--hub', 'http://127.0.0.1:9'], { home });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('USAGE_ERROR') });
});

it('an address that answers with a page is no hub, and its password is not printed', async () => {
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<p>hello'));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  const env = { FLOWRIGHT_HUB: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const page = await flowright(['flow', 'list'], { home: tempFolder(), env });
  expect({ status: page.status, stderr: page.stderr }).toEqual({
    status: 2,
    stderr: expect.stringContaining('HUB_UNREACHABLE'),
  });
  const gone = { FLOWRIGHT_HUB: 'http://sam:hunter2@127.0.0.1:9' };
  const { stderr } = await flowright(['flow', 'list'], { home: tempFolder(), env: gone });
  expect(stderr).not.toContain('hunter2');
});

it('a store file under another name is refused and left alone', async () => {
  const home = tempFolder();
  const file = join(home, 'other.json');
  writeFileSync(file, '{"vaults":{}}');
  const { status, stderr } = await flowright(['flow', 'store', 'import', file], { home });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('hub_flow_store.json') });
});

it('[FLR-bad-input] [FLR-signin-once] a body on DELETE is refused, and HEAD does not use up a sign-in link', async () => {
  const home = tempFolder();
  const hub = await startHub({ home });
  onTestFinished(() => hub.stop().then(() => {}));
  await flowright(['member', 'set', 'sam', '--role', 'viewer'], { home });
  const { token } = await flowrightJson<{ token: string }>(['token', 'create', '--user', 'local'], { home });
  const refused = await fetch(`${hub.url}/api/v1/members/sam`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"user":"kim"}',
  });
  expect({ status: refused.status, body: await refused.json() }).toMatchObject({
    status: 400,
    body: { code: 'BAD_REQUEST' },
  });
  expect((await flowright(['member', 'list'], { home })).stdout).toContain('sam');
  await fetch(hub.signinLink, { method: 'HEAD' });
  expect((await fetch(hub.signinLink, { redirect: 'manual' })).status).toBe(303);
});
