import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SCOPE_FILENAME } from '../../src/identity/index.ts';
import { onEachDatabase } from '../support/databases.ts';
import { flowright, flowrightJson, type ProgramOptions } from '../support/program.ts';
import { programOn, useStore } from './library.ts';

const SCOPES = {
  vera: { default: { scopes: ['personal', 'project'] }, research: { scopes: ['personal', 'project', 'org'] } },
  max: { default: { scopes: ['project'], ambiguous: true } },
  odd: { default: { scopes: ['galaxy', 7, 'project'] } },
  bare: { default: {} },
  local: { default: { scopes: ['personal'] } },
  'not a user!': { default: { scopes: ['org'] } },
  ann: { 'not a vault!': { scopes: ['org'] } },
};

const writeScopes = (home: string, text: string): void => writeFileSync(join(home, SCOPE_FILENAME), text);

async function members(options: ProgramOptions, vault = 'default'): Promise<Record<string, unknown>> {
  const { members: list } = await flowrightJson<{ members: Record<string, unknown>[] }>(
    ['member', 'list', '--vault', vault],
    options,
  );
  return Object.fromEntries(list.map(({ user_id, role, scopes, ambiguous }) => [user_id, { role, scopes, ambiguous }]));
}

onEachDatabase((_engine, makeStore) => {
  it('[FLR-store-transfer] the first start takes over scopes and ambiguity, and never a role', async () => {
    const store = await useStore(makeStore);
    const options = programOn(store);
    writeScopes(store.home, JSON.stringify(SCOPES));
    const first = await flowright(['flow', 'list'], options);
    expect(first.status).toBe(0);
    expect(first.stderr).toContain('6 memberships');
    expect(await members(options)).toEqual({
      local: { role: 'admin', scopes: ['personal'], ambiguous: false },
      vera: { role: 'viewer', scopes: ['personal', 'project'], ambiguous: false },
      max: { role: 'viewer', scopes: ['project'], ambiguous: true },
      odd: { role: 'viewer', scopes: ['project'], ambiguous: false },
      bare: { role: 'viewer', scopes: null, ambiguous: false },
    });
    expect(await members(options, 'research')).toMatchObject({ local: { role: 'admin' }, vera: { role: 'viewer' } });
    const asUser = (user: string) => ({ ...options, env: { FLOWRIGHT_IDENTITY: user } });
    const seen = await flowrightJson<{ flows: unknown[] }>(['flow', 'list'], asUser('vera'));
    expect(seen.flows).toHaveLength(6);
    const muddled = await flowright(['flow', 'list', '--json'], asUser('max'));
    expect([muddled.status, JSON.parse(muddled.stderr).code]).toEqual([1, 'FLOW_SCOPE_AMBIGUOUS']);
  });

  it('[FLR-store-transfer] a later start does not undo what an admin changed since', async () => {
    const store = await useStore(makeStore);
    const options = programOn(store);
    writeScopes(store.home, JSON.stringify({ vera: { default: { scopes: ['org'] } } }));
    await flowright(['flow', 'list'], options);
    expect((await flowright(['member', 'set', 'vera', '--role', 'viewer'], options)).status).toBe(0);
    await flowright(['flow', 'list'], options);
    expect((await members(options)).vera).toMatchObject({ scopes: null });
  });

  it('[S002-8.7-robust-load] a damaged scope file is reported, grants nothing, and is taken over once mended', async () => {
    const store = await useStore(makeStore);
    const options = programOn(store);
    writeScopes(store.home, '{"vera": {"default": {"scopes": ["org"]');
    const first = await flowright(['flow', 'list'], options);
    expect([first.status, Object.keys(await members(options))]).toEqual([0, ['local']]);
    expect(first.stderr).toContain(SCOPE_FILENAME);
    expect(first.stderr).not.toContain('was imported');
    writeScopes(store.home, JSON.stringify({ vera: { default: { scopes: ['org'] } } }));
    await flowright(['flow', 'list'], options);
    expect((await members(options)).vera).toMatchObject({ scopes: ['org'] });
  });
});
