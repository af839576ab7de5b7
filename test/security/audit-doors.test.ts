import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { flowright, flowrightJson, type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { must, tokenFor } from './people.ts';
import { ask } from './rest.ts';

interface Line {
  user_id: string;
  door: string;
  action: string;
  code: string | null;
  occurrences: number;
  request_id: string;
}

let store: TestStore;
let hub: Hub | undefined;
let options: ProgramOptions;

beforeEach(async () => {
  store = await makeStore('sqlite');
  options = { home: store.home };
});

afterEach(async () => {
  await hub?.stop();
  hub = undefined;
  await store?.remove();
});

const log = async (...args: string[]) =>
  (await flowrightJson<{ entries: Line[] }>(['audit', 'list', '--limit', '200', ...args], options)).entries;

it('[FLR-audit-chain] a flood through the hub is a few lines that count every refusal once the hub has stopped', async () => {
  const token = await tokenFor(options, 'vera', { role: 'viewer' });
  hub = await startHub(options);
  const before = (await log()).length;
  for (let at = 0; at < 100; at += 1) {
    expect((await ask(hub, '/api/v1/users', { token })).status).toBe(403);
    expect((await ask(hub, '/api/v1/users', { method: 'POST', token, json: { user: `u${at}` } })).status).toBe(403);
  }
  expect((await log()).length - before).toBeLessThanOrEqual(2);
  await hub.stop();
  hub = undefined;
  const refusals = (await log()).filter(({ code }) => code === 'FORBIDDEN');
  expect(refusals.length).toBeLessThanOrEqual(4);
  expect(refusals.reduce((sum, { occurrences }) => sum + occurrences, 0)).toBe(200);
  expect(await flowrightJson(['audit', 'verify'], options)).toMatchObject({ ok: true });
});

it('[FLR-audit-chain] every door writes to the same chain, with the id of the request', async () => {
  const token = await tokenFor(options, 'local');
  hub = await startHub(options);
  await must(['user', 'create', 'by-command', '--request-id', 'rid-command'], options);
  const headers = { 'x-request-id': 'rid-rest' };
  await ask(hub, '/api/v1/users', { method: 'POST', token, headers, json: { user: 'by-rest' } });
  expect((await log()).slice(0, 2)).toMatchObject([
    { user_id: 'local', door: 'http', action: 'user.create', request_id: 'rid-rest' },
    { user_id: 'local', door: 'cli', action: 'user.create', request_id: 'rid-command' },
  ]);
  expect(await flowrightJson(['audit', 'verify'], options)).toMatchObject({ ok: true });
});

it('[FLR-audit-chain] wrong tokens stand in the chain of the hub, without the token', async () => {
  hub = await startHub(options);
  for (let at = 0; at < 10; at += 1) await ask(hub, '/api/v1/flows', { token: `flw_guess-${at}` });
  const lines = await log('--chain', 'hub');
  expect(lines).toMatchObject([{ user_id: '(nobody)', action: 'authenticate', code: 'UNAUTHORIZED' }]);
  expect(JSON.stringify(lines)).not.toContain('guess');
  expect(await flowrightJson(['audit', 'verify', '--chain', 'hub'], options)).toMatchObject({ ok: true, entries: 1 });
});

it('[FLR-audit-chain] a changed line is shown by audit verify and by doctor', async () => {
  await must(['user', 'create', 'sam'], options);
  await must(['user', 'create', 'kim'], options);
  expect(await must(['audit', 'verify'], options)).toContain('sound');
  const { queries } = await store.open();
  await queries.updateTable('audit').set({ user_id: 'eve' }).where('sequence', '=', 1).execute();
  expect((await flowright(['audit', 'verify'], options)).stdout).toContain('BROKEN at line 1');
  const doctor = await flowright(['doctor'], options);
  expect(doctor.status).toBe(1);
  expect(doctor.stdout).toContain('broken at line 1');
});
