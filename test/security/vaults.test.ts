import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { openDoors } from '../support/doors.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { openInside, type Payload, propose } from './inside.ts';
import { importFlows } from './library.ts';
import { must, tokenFor } from './people.ts';
import { ask, expectRefusal } from './rest.ts';

let store: TestStore;
let hub: Hub;
let options: ProgramOptions;
const tokens = { owner: '', vera: '', tess: '' };

beforeAll(async () => {
  store = await makeStore('sqlite');
  options = { home: store.home };
  await must(['vault', 'create', 'team', '--no-starters'], options);
  await must(['vault', 'create', 'closed'], options);
  await importFlows(options, [sampleFlow('flow_of_team', { title: 'Platypus' })], 'team');
  tokens.owner = await tokenFor(options, 'local');
  tokens.vera = await tokenFor(options, 'vera', { role: 'viewer' });
  await must(['member', 'set', 'vera', '--role', 'editor', '--vault', 'team'], options);
  tokens.tess = await tokenFor(options, 'tess', { role: 'admin', vault: 'team' });
  hub = await startHub(options);
});

afterAll(async () => {
  await hub?.stop();
  await store?.remove();
});

const inVault = (token: string, vault: string | undefined, path = '/api/v1/whoami') =>
  ask(hub, path, { token, headers: vault === undefined ? {} : { 'x-vault-id': vault } });

describe('[S002-4-vault-binding] X-Vault-Id', () => {
  it('selects the vault and the role held there', async () => {
    expect((await inVault(tokens.vera, 'team')).body).toMatchObject({ vault_id: 'team', role: 'editor' });
    expect((await inVault(tokens.vera, 'default')).body).toMatchObject({ vault_id: 'default', role: 'viewer' });
  });

  it('left out or blank means the vault of the token', async () => {
    expect((await inVault(tokens.vera, undefined)).body).toMatchObject({ vault_id: 'default' });
    expect((await inVault(tokens.vera, '')).body).toMatchObject({ vault_id: 'default' });
    expect((await inVault(tokens.tess, undefined)).body).toMatchObject({ vault_id: 'team' });
  });

  it('keeps the flows of vaults apart', async () => {
    const inTeam = await inVault(tokens.vera, 'team', '/api/v1/flows');
    expect(inTeam.body.flows).toMatchObject([{ flow_id: 'flow_of_team' }]);
    expectRefusal(await inVault(tokens.vera, 'default', '/api/v1/flows/flow_of_team'), 404, 'unknown_flow');
    expectRefusal(await inVault(tokens.vera, 'team', '/api/v1/flows/flow_capture_to_note'), 404, 'unknown_flow');
    expect((await inVault(tokens.owner, 'default', '/api/v1/flows/search?query=platypus')).body.flows).toEqual([]);
    expect((await inVault(tokens.owner, 'team', '/api/v1/flows/search?query=platypus')).body.flows).toHaveLength(1);
  });

  it('is required to name a vault in which the caller has a role', async () => {
    expectRefusal(await inVault(tokens.tess, 'default'), 404, 'NOT_FOUND');
    expectRefusal(await inVault(tokens.tess, 'closed', '/api/v1/flows'), 404, 'NOT_FOUND');
  });

  it('given twice is no vault at all', async () => {
    const headers = { 'x-vault-id': ['default', 'team'] };
    expectRefusal(await ask(hub, '/api/v1/whoami', { token: tokens.vera, headers }), 404, 'NOT_FOUND');
  });
});

describe('[S002-4-vault-binding] an admin of one vault', () => {
  const asTess = (method: string, path: string, json?: unknown) =>
    ask(hub, path, { token: tokens.tess, method, ...(json === undefined ? {} : { json }) });

  it('administers that vault and not the hub', async () => {
    expect((await asTess('GET', '/api/v1/members')).status).toBe(200);
    expectRefusal(await asTess('GET', '/api/v1/users'), 403, 'FORBIDDEN');
    expectRefusal(await asTess('POST', '/api/v1/vaults', { vault_id: 'mine' }), 403, 'FORBIDDEN');
    expectRefusal(await asTess('POST', '/api/v1/users/vera/disable', {}), 403, 'FORBIDDEN');
  });

  it('cannot revoke a token of another vault', async () => {
    const { body } = await inVault(tokens.owner, 'default', '/api/v1/tokens?user=vera');
    const [token] = body.tokens as { token_id: string }[];
    expectRefusal(await asTess('DELETE', `/api/v1/tokens/${token?.token_id}`), 404, 'NOT_FOUND');
    expect((await inVault(tokens.vera, undefined)).status).toBe(200);
  });

  it('cannot make a token that acts as somebody else in another vault', async () => {
    const created = await asTess('POST', '/api/v1/tokens', { user: 'local' });
    if (created.status !== 201) return;
    const stolen = String(created.body.token);
    expect((await inVault(stolen, 'team')).status).toBe(200);
    expectRefusal(await inVault(stolen, 'default', '/api/v1/users'), 404, 'NOT_FOUND');
    expectRefusal(await inVault(stolen, 'closed', '/api/v1/flows'), 404, 'NOT_FOUND');
  });

  it('cannot add a stranger to its vault and then act as that stranger elsewhere', async () => {
    const stranger = 'olaf';
    await must(['member', 'set', stranger, '--role', 'admin', '--vault', 'closed'], options);
    const created = await asTess('POST', '/api/v1/tokens', { user: stranger, role: 'viewer' });
    if (created.status !== 201) return;
    expectRefusal(await inVault(String(created.body.token), 'closed', '/api/v1/members'), 404, 'NOT_FOUND');
  });
});

describe('[S002-4-vault-binding] a proposal', () => {
  const ids: string[] = [];

  beforeAll(async () => {
    const inside = await openInside(store);
    ids.push((await propose(inside, 'local', sampleFlow('flow_waiting'))).proposal_id);
    ids.push(
      String(
        (await inside.as('local', 'proposal.create', { path: 'wish.md', body: 'Text', intent: 'A wish' })).proposal_id,
      ),
    );
    await inside.close();
  });

  const acts: [string, string, Payload | undefined][] = [
    ['GET', '', undefined],
    ['GET', '/diff', undefined],
    ['POST', '/evaluation', { outcome: 'fail', comment: 'No' }],
    ['POST', '/approve', {}],
    ['POST', '/approve', { waiver_reason: 'Because I can' }],
    ['POST', '/discard', {}],
    ['POST', '/comments', { body: 'Hello' }],
    ['POST', '/withdraw', {}],
  ];
  it.each(acts)(
    'answers %s …%s under the name of another vault as one that is not there',
    async (method, end, json) => {
      const nowhere = '00000000-0000-4000-8000-000000000000';
      const at = (id: string, token: string, vault: string) =>
        ask(hub, `/api/v1/proposals/${id}${end}`, {
          method,
          token,
          headers: { 'x-vault-id': vault, 'x-request-id': 'vault-test' },
          ...(json ? { json } : {}),
        });
      for (const token of [tokens.owner, tokens.tess]) {
        const missing = await at(nowhere, token, 'team');
        expectRefusal(missing, 404, 'NOT_FOUND');
        for (const id of ids) expect((await at(id, token, 'team')).text.replaceAll(id, nowhere)).toBe(missing.text);
      }
      for (const id of ids)
        expect((await inVault(tokens.owner, 'default', `/api/v1/proposals/${id}`)).status).toBe(200);
    },
  );

  it('is still open and without comment afterwards', async () => {
    for (const id of ids) {
      const { body } = await inVault(tokens.owner, 'default', `/api/v1/proposals/${id}`);
      expect(body).toMatchObject({ status: 'proposed', evaluation_status: 'none', comments: [] });
    }
    expect((await inVault(tokens.owner, 'team', '/api/v1/proposals')).body.proposals).toEqual([]);
  });
});

const NO_VAULT = ['nothere', 'closed', 'constructor', 'DEFAULT', '__proto__', '../default', 'no such!', 'v'.repeat(65)];

describe('[S002-4-vault-binding] [S002-7-same-refusal] a vault that cannot be used is the same 404', () => {
  const asked = new Map<string, ReturnType<typeof askEverywhere>>();
  const askEverywhere = async (vault: string) => {
    const doors = await openDoors({ ...options, hub, user: 'vera', token: tokens.vera, vault });
    try {
      return await Promise.all(doors.map(async (door) => ({ door: door.name, ...(await door.ask('flow.list', {})) })));
    } finally {
      for (const door of doors) await door.close();
    }
  };
  /** Once a vault: opening all doors starts programs. */
  const refusals = (vault: string) => {
    const answers = asked.get(vault) ?? askEverywhere(vault);
    asked.set(vault, answers);
    return answers;
  };

  it.each(NO_VAULT)('through REST and MCP: %s', async (vault) => {
    const answers = (await refusals(vault)).filter(({ door }) => !door.startsWith('command line'));
    expect(answers).toHaveLength(3);
    for (const { door, ok, text } of answers) {
      expect(ok, door).toBe(false);
      expect(JSON.parse(text), door).toMatchObject({ code: 'NOT_FOUND', details: {} });
    }
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it.each(NO_VAULT)('through the command line: %s', async (vault) => {
    const [rest, ...commands] = (await refusals(vault))
      .filter(({ door }) => !door.startsWith('MCP'))
      .sort((left, right) => right.door.localeCompare(left.door));
    expect(rest?.door).toBe('REST');
    for (const { door, text } of commands) expect(text, door).toBe(rest?.text);
  });

  it('whether it exists or not', async () => {
    const texts = async (vault: string) => (await inVault(tokens.vera, vault)).body.message;
    expect(String(await texts('closed')).replace('closed', 'X')).toBe(
      String(await texts('absent')).replace('absent', 'X'),
    );
    expect(await texts('__proto__')).toBe(await texts('no such!'));
  });
});
