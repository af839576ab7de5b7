import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { flowright, flowrightJson, type Hub, ROOT, startHub } from '../support/program.ts';

/** Commands of the README's code blocks, in order. */
const COMMANDS = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(
  ([, block]) => (block ?? '').trim().split('\n'),
);

describe('every command of the README works as written', () => {
  let store: TestStore;
  let hub: Hub;
  let token: string;

  beforeAll(async () => {
    store = await makeStore('sqlite');
    hub = await startHub({ home: store.home });
    ({ token } = await flowrightJson<{ token: string }>(
      ['token', 'create', '--user', 'reader', '--role', 'viewer'],
      store,
    ));
  });

  afterAll(async () => {
    await hub?.stop();
    await store?.remove();
  });

  it('opens with the two commands that do everything', () => {
    expect(COMMANDS.slice(0, 2)).toEqual(['npm install && npm start', 'npm install && npm test']);
  });

  const local = COMMANDS.filter((line) => line.startsWith('npx flowright'));
  it.each(local)('%s', async (line) => {
    const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(2);
    const { status, stderr, stdout } = await flowright(args, { home: store.home });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.length).toBeGreaterThan(0);
  });

  it.each(COMMANDS.filter((line) => line.startsWith('curl')))('%s', async (line) => {
    const url = /http:\/\/127\.0\.0\.1:7480(\S+)/.exec(line)?.[1] ?? '';
    const response = await fetch(hub.url + url, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
  });

  it.each(COMMANDS.filter((line) => line.startsWith('FLOWRIGHT_HUB=')))('%s', async (line) => {
    const args = line.split(' npx flowright ')[1]?.split(' ') ?? [];
    const env = { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token };
    const { status, stdout } = await flowright(args, { home: store.home, env });
    expect(status).toBe(0);
    expect(stdout).toContain('flow_capture_to_note');
  });
});
