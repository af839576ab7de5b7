import { copyFileSync, cpSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import {
  type Finished,
  flowright,
  flowrightJson,
  type Hub,
  type ProgramOptions,
  startHub,
} from '../support/program.ts';
import { programOn } from './library.ts';
import { baseOf, openReview, type Review } from './review.ts';
import { importStore, mustRun, vaultPart, writeStoreFile } from './store-files.ts';

const QUESTIONS: [string, Record<string, unknown>][] = [
  ['flow.list', {}],
  ['flow.get', { flow_id: 'flow_kept' }],
  ['flow.get', { flow_id: 'flow_kept', version: '1.0.0' }],
  ['flow.search', { query: 'kept' }],
  ['member.list', {}],
  ['vault.list', {}],
];

let prepared: TestStore;
let store: TestStore;
let options: ProgramOptions;
let hub: Hub | undefined;

/** Made once, with a backup that is good; each test has a copy. */
beforeAll(async () => {
  prepared = await makeStore('sqlite');
  const bundles = ['1.0.0', '1.1.0'].map((version) => sampleFlow('flow_kept', { version }));
  const file = writeStoreFile(join(prepared.home, 'in'), { default: vaultPart(bundles) });
  await importStore(file, programOn(prepared));
  await mustRun(['backup', join(prepared.home, 'good.db')], programOn(prepared));
});
afterAll(() => prepared?.remove());

beforeEach(async () => {
  store = await makeStore('sqlite');
  options = programOn(store);
  cpSync(prepared.home, store.home, { recursive: true });
});

afterEach(async () => {
  await hub?.stop();
  hub = undefined;
  await store.remove();
});

/** What the store answers, asked without programs of its own. */
async function answers(): Promise<string[]> {
  const reader = await openReview({ home: options.home, databaseUrl: options.databaseUrl });
  try {
    const told: string[] = [];
    for (const [operation, input] of QUESTIONS) told.push(JSON.stringify(await reader.ask(operation, input)));
    return told;
  } finally {
    await reader.close();
  }
}
const addFlow = (flowId: string) =>
  importStore(writeStoreFile(join(store.home, flowId), { default: vaultPart([sampleFlow(flowId)]) }), options);
const restore = (file: string): Promise<Finished> => flowright(['restore', file, '--yes', '--json'], options);
const codeOf = ({ stderr }: Finished): string => JSON.parse(stderr).code;

describe('[FLR-backup-restore] a backup', () => {
  it('restores to the same answers; what came after it is gone, but kept beside', async () => {
    const before = await answers();
    const file = join(store.home, 'copy.db');
    await mustRun(['backup', file], options);
    await addFlow('flow_after');
    expect(await answers()).not.toEqual(before);
    const done = await restore(file);
    expect(done.status, done.stderr).toBe(0);
    expect(await answers()).toEqual(before);
    const { kept } = JSON.parse(done.stdout) as { kept: string };
    const beside = new BetterSqlite3(kept, { readonly: true });
    const titles = beside.prepare("select flow_id from flows where flow_id = 'flow_after'").all();
    beside.close();
    expect(titles).toHaveLength(1);
  });

  it('carries proposals and what was decided; notes written after it are found out, and taken for nothing', async () => {
    const author = await openReview(store);
    const approved = await author.approve((await author.propose(sampleFlow('flow_reviewed'))).proposal_id);
    const draft = async (version: string) => ({
      ...sampleFlow('flow_reviewed', { version }),
      ...(await baseOf(author, 'flow_reviewed')),
    });
    const open = await author.propose(await draft('1.1.0'));
    await author.ask('proposal.comment', { proposal_id: open.proposal_id, body: 'Wait.' });
    const told = async ({ ask }: Review) =>
      JSON.stringify([
        await ask('proposal.list', {}),
        await ask('proposal.get', { proposal_id: open.proposal_id }),
        await ask('proposal.get', { proposal_id: approved.proposal_id }),
        await ask('flow.versions', { flow_id: 'flow_reviewed' }),
      ]);
    const before = await told(author);
    const file = join(store.home, 'copy.db');
    await mustRun(['backup', file], options);
    await author.approve(open.proposal_id);
    await author.close();
    expect((await restore(file)).status).toBe(0);
    const reader = await openReview(store);
    expect(await told(reader)).toBe(before);
    const { mirrors } = await reader.ask<{ mirrors: object[] }>('flow.mirrors', {});
    expect(mirrors).toMatchObject([{ flow_id: 'flow_reviewed', version: '1.0.0', state: 'edited' }]);
    await reader.approve(open.proposal_id);
    expect((await reader.ask<{ mirrors: object[] }>('flow.mirrors', {})).mirrors).toMatchObject([
      { version: '1.1.0', state: 'in_step' },
    ]);
    expect((await reader.app.services.auditLog.verify('default')).broken_at).toBeNull();
    await reader.close();
  });

  it('restores into a new home to the same answers', async () => {
    const before = await answers();
    const file = join(store.home, 'copy.db');
    await mustRun(['backup', file], options);
    const fresh = await makeStore('sqlite');
    try {
      options = programOn(fresh);
      expect((await restore(file)).status).toBe(0);
      expect(await answers()).toEqual(before);
    } finally {
      await fresh.remove();
    }
  });

  it('leaves a line in the audit log, and the log stays sound', async () => {
    const file = join(store.home, 'copy.db');
    await mustRun(['backup', file], options);
    await restore(file);
    const { entries } = await flowrightJson<{ entries: Record<string, unknown>[] }>(['audit', 'list'], options);
    expect(entries[0]).toMatchObject({ action: 'database.restore', outcome: 'done', user_id: 'local', door: 'cli' });
    expect(await flowrightJson(['audit', 'verify'], options)).toMatchObject({ ok: true });
  });

  it('is written while a hub runs, and holds what the hub answers', async () => {
    const { token } = await flowrightJson<{ token: string }>(['token', 'create', '--user', 'local'], options);
    hub = await startHub(options);
    const headers = { authorization: `Bearer ${token}` };
    const live = await (await fetch(`${hub.url}/api/v1/flows`, { headers })).text();
    const file = join(store.home, 'copy.db');
    await mustRun(['backup', file], options);
    expect(await (await fetch(`${hub.url}/api/v1/flows`, { headers })).text()).toBe(live);
    await hub.stop();
    hub = undefined;
    await addFlow('flow_after');
    expect((await restore(file)).status).toBe(0);
    expect(await mustRun(['flow', 'list', '--json'], options)).toBe(`${live}\n`);
  });

  it('replaces an older one whole and leaves no draft', async () => {
    const file = join(store.home, 'copies', 'copy.db');
    writeStoreFile(join(store.home, 'copies'), {});
    await mustRun(['backup', file], options);
    await addFlow('flow_after');
    await mustRun(['backup', file], options);
    expect(readdirSync(join(store.home, 'copies')).filter((name) => name.startsWith('copy.db'))).toEqual(['copy.db']);
    const copy = new BetterSqlite3(file, { readonly: true });
    expect(copy.prepare('select count(*) as n from flow_versions').get()).toEqual({ n: 3 });
    copy.close();
  });

  it('is refused in the place of the live database', async () => {
    const { ino } = statSync(join(store.home, 'flowright.db'));
    const { status } = await flowright(['backup', join(store.home, 'flowright.db')], options);
    expect(statSync(join(store.home, 'flowright.db')).ino, 'the live file is still the same one').toBe(ino);
    expect(status).toBe(1);
  });
});

describe('[FLR-backup-restore] a restore', () => {
  it('is refused while a hub runs, and changes nothing', async () => {
    const file = join(store.home, 'copy.db');
    await mustRun(['backup', file], options);
    await addFlow('flow_after');
    const before = await answers();
    hub = await startHub(options);
    const refused = await restore(file);
    expect([refused.status, codeOf(refused)]).toEqual([1, 'HUB_RUNNING']);
    expect(await answers()).toEqual(before);
    expect(readdirSync(store.home).filter((name) => name.includes('restore'))).toEqual([]);
  });

  it('is refused while any hub runs, also after another one that started first has stopped', async () => {
    const file = join(store.home, 'copy.db');
    await mustRun(['backup', file], options);
    const first = await startHub(options);
    hub = await startHub(options);
    await first.stop();
    const refused = await restore(file);
    expect(refused.status, 'a hub still uses the database').toBe(1);
    expect(codeOf(refused)).toBe('HUB_RUNNING');
  });

  it('asks first', async () => {
    const file = join(store.home, 'copy.db');
    await mustRun(['backup', file], options);
    const refused = await flowright(['restore', file, '--json'], options);
    expect([refused.status, codeOf(refused)]).toEqual([1, 'CONFIRMATION_REQUIRED']);
  });

  it.each([
    ['is not there', () => {}],
    ['is empty', (file: string) => writeFileSync(file, '')],
    ['is a text', (file: string) => writeFileSync(file, 'SQLite format 3\u0000 or so')],
    ['was cut off', (file: string) => truncateSync(copyOf(file), 40_960)],
    ['has a damaged page', (file: string) => overwrite(copyOf(file), 8_192)],
    ['belongs to another program', (file: string) => pragma(copyOf(file), 'application_id = 1')],
    ['has a newer schema', (file: string) => pragma(copyOf(file), 'user_version = 999')],
  ])('of a file that %s changes nothing', async (_what, spoil) => {
    const before = await answers();
    const file = join(store.home, 'bad.db');
    spoil(file);
    const refused = await restore(file);
    expect([refused.status, codeOf(refused)]).toEqual([1, 'BACKUP_INVALID']);
    expect(await answers()).toEqual(before);
    expect(readdirSync(store.home).filter((name) => name.includes('restore'))).toEqual([]);
  });
});

function copyOf(file: string): string {
  copyFileSync(join(store.home, 'good.db'), file);
  return file;
}

function overwrite(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes.fill(0xff, at, at + 4_096);
  writeFileSync(file, bytes);
}

function pragma(file: string, statement: string): void {
  const database = new BetterSqlite3(file);
  database.pragma(statement);
  database.close();
}
