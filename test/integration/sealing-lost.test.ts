import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepState, stateOf } from '../../src/chatflows/states.ts';
import { sealing } from '../../src/doctor/sealing.ts';
import { createServers } from '../../src/flowise/index.ts';
import { ensureHome, homePaths, keptSealingKey, sealingKey, writeHubLock } from '../../src/home/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { resolveConfig } from '../../src/kernel/config.ts';
import type { FlowrightError } from '../../src/kernel/errors.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { holdsSealed, openSealing } from '../../src/sealing.ts';
import { useLibrary } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';
import { tempFolder } from '../support/home.ts';

function refused(work: () => unknown): FlowrightError {
  try {
    work();
  } catch (error) {
    return error as FlowrightError;
  }
  throw new Error('answered');
}

onEachDatabase((_engine, makeStore) => {
  const open = async () => {
    const database = await useLibrary(makeStore);
    const path = join(tempFolder(), 'sealing.key');
    const { config } = resolveConfig({ environment: {}, file: {} });
    const book = async () => {
      const key = await openSealing(path, database.queries);
      return createServers({ database, config, clock: systemClock, log: silentLog, sealingKey: key });
    };
    const add = async (name: string, api_key?: string) => {
      const servers = await book();
      const server = { name, url: 'http://127.0.0.1:3000', api_key, is_default: false };
      await database.transaction((trx) => servers.add(trx, 'default', server));
    };
    return { database, path, add };
  };

  describe('[FLR-sealing-lost] a sealing key that is gone', () => {
    it('is not replaced while anything is sealed with it', async () => {
      const { database, path, add } = await open();
      await add('open');
      expect([await holdsSealed(database.queries), existsSync(path)]).toEqual([false, false]);
      expect(await sealing(database, path)).toMatchObject({ state: 'good' });
      await add('lab', 'a-key');
      expect([await holdsSealed(database.queries), existsSync(path)]).toEqual([true, true]);
      expect(await sealing(database, path)).toMatchObject({
        state: 'good',
        what: expect.stringContaining('by you alone'),
      });
      renameSync(path, `${path}.lost`);
      const error = (await add('more', 'another').catch((thrown: unknown) => thrown)) as FlowrightError;
      expect([error.code, existsSync(path)]).toEqual(['SEALED_ELSEWHERE', false]);
      expect(error.message).toMatch(/is missing, and the database holds.*Put it back.*openssl rand -base64 32 > /);
      expect(await sealing(database, path)).toMatchObject({
        state: 'wrong',
        fix: expect.stringContaining('Put it back'),
      });
      renameSync(`${path}.lost`, path);
      await add('more', 'another');
    });

    it('is told by doctor when another one stands in its place, or others can read it', async () => {
      const { database, path, add } = await open();
      await add('lab', 'a-key');
      chmodSync(path, 0o644);
      expect(await sealing(database, path)).toEqual({
        state: 'warning',
        what: `${path} is open to other users of this machine`,
        fix: `chmod 600 ${path}`,
      });
      const states = { vault_id: 'default', key: sealingKey(path) };
      await keepState(database.queries, states, stateOf('{"nodes":[],"edges":[]}'), '2026-01-01T00:00:00.000Z');
      expect((await sealing(database, path)).state).toBe('warning');
      rmSync(path);
      sealingKey(path);
      expect(await sealing(database, path)).toMatchObject({
        state: 'wrong',
        what: expect.stringMatching(/does not open the newest key of a Flowise server and the newest content/),
      });
      writeFileSync(path, 'short');
      expect(await sealing(database, path)).toMatchObject({
        state: 'wrong',
        what: expect.stringContaining('32 bytes'),
      });
    });
  });
});

describe('[FLR-sealing-lost] while a program runs', () => {
  it('a key that was there is not made anew', () => {
    const path = join(tempFolder(), 'sealing.key');
    const key = keptSealingKey(path, false);
    const first = key();
    expect(key()).toEqual(first);
    const text = readFileSync(path);
    rmSync(path);
    expect(refused(key).code).toBe('SEALED_ELSEWHERE');
    writeFileSync(path, text);
    expect(key()).toEqual(first);
  });
});

describe('[FLR-home-read-only] a data folder that cannot be used', () => {
  it('is named, wherever it is written to', () => {
    const folder = join(tempFolder(), 'gone');
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    const failures = [
      refused(() => sealingKey(join(folder, 'sealing.key'))),
      refused(() => writeHubLock(homePaths(folder), 'http://127.0.0.1:1')),
      refused(() => ensureHome(homePaths(join(file, 'home')))),
    ];
    expect(failures.map(({ code }) => code)).toEqual(['CONFIG_INVALID', 'CONFIG_INVALID', 'CONFIG_INVALID']);
    for (const { message } of failures)
      expect(message).toMatch(/data folder \S+ cannot be used \(E\w+\)\. Set FLOWRIGHT_HOME/);
    mkdirSync(join(folder, 'sealing.key'), { recursive: true });
    const error = refused(() => sealingKey(join(folder, 'sealing.key')));
    expect([error.code, error.message]).toEqual(['CONFIG_INVALID', expect.stringContaining('cannot be read (EISDIR)')]);
  });
});
