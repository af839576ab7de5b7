import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import { type FlowBundle, importFlowStore } from '../../src/flows/index.ts';
import { ensureVaultWithAdmin, OWNER } from '../../src/identity/index.ts';
import { openTestApp } from '../support/app.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { tempFolder } from '../support/home.ts';

const TITLE = sampleFlow('flow_title', { title: 'Zebra crossing', summary: 'On stripes.', tags: ['street'] });
const TAGGED = sampleFlow('flow_tagged', { tags: ['zebra-stripes'], summary: 'A flow.' });
const SUMMARY = sampleFlow('flow_summary', { summary: 'How the zebras are counted.' });
const STEPS = sampleFlow('flow_steps', { instruction: 'Feed the zebra, then lock the gate.' });
const OTHER = sampleFlow('flow_other', { title: 'Elephants', summary: 'No stripes.' });
const ACCENTS = sampleFlow('flow_accents', {
  title: 'Café Übergabe',
  summary: 'ＦＵＬＬ width, Ångström, naïve façade.',
});

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let app: App;

  beforeEach(async () => {
    store = await makeStore();
    app = await openTestApp(store, { starterDir: tempFolder() });
  });
  afterEach(async () => {
    await app.close();
    await store.remove();
  });

  const add = (bundles: FlowBundle[], vaultId = 'default') =>
    app.services.database.transaction(async (trx) => {
      const vault = {
        flows: bundles.map(({ flow }) => flow),
        steps: bundles.flatMap(({ flow, steps }) => steps.map((step) => ({ ...step, flow_version: flow.version }))),
        runs: [],
        candidates: [],
        projections: [],
      };
      const { clock, database } = app.services;
      const ensureVault = (inner: typeof trx, id: string) => ensureVaultWithAdmin(inner, clock, id, OWNER);
      const report = await importFlowStore(
        trx,
        { dialect: database.dialect, clock, ensureVault },
        { vaults: { [vaultId]: vault } },
      );
      expect(report.quarantined).toEqual([]);
    });

  const ask = async (input: { query: string; scope?: string; limit?: number }, as = OWNER, vaultId = 'default') => {
    const operation = (await app.catalogue.all()).find(({ name }) => name === 'flow.search');
    const principal = await app.principals.local({ identity: as, vaultId, narrowTo: null, agent: false });
    const call = { principal, door: 'cli', request_id: 'search-test', correlation_id: undefined } as const;
    if (!operation) throw new Error('there is no flow.search');
    return (await app.invoke(operation, call, input)) as Awaited<ReturnType<App['services']['flows']['search']>>;
  };
  const find = async (query: string, ...rest: [as?: string, vaultId?: string]) =>
    (await ask({ query }, ...rest)).flows.map(({ flow_id }) => flow_id);

  describe('[FLR-search] words', () => {
    beforeEach(() => add([TITLE, TAGGED, SUMMARY, STEPS, OTHER, ACCENTS]));

    it('are found in title, tags, summary and steps, the title first', async () => {
      const found = await find('zebra');
      expect(new Set(found)).toEqual(new Set(['flow_title', 'flow_tagged', 'flow_summary', 'flow_steps']));
      expect(found[0]).toBe('flow_title');
      expect(found.at(-1)).toBe('flow_steps');
    });

    it('of the id and of every text of a step are found', async () => {
      expect(await find('accents')).toEqual(['flow_accents']);
      for (const word of ['Part', 'asked', 'nobody', 'inside', 'sentence', 'looked'])
        expect(await find(word), word).toHaveLength(6);
    });

    it('may be beginnings, but not ends or middles', async () => {
      expect(await find('eleph')).toEqual(['flow_other']);
      expect(await find('lephants')).toEqual([]);
      expect(await find('lepha')).toEqual([]);
    });

    it('are all required when there are several, in any order and any field', async () => {
      expect(await find('gate zebra')).toEqual(['flow_steps']);
      expect(await find('zebra crossing street stripes')).toEqual(['flow_title']);
      expect(await find('zebra elephants')).toEqual([]);
    });

    it('match whatever their case and accents', async () => {
      const spellings = ['cafe', 'CAFÉ', 'cafe\u0301', 'ubergabe', 'ÜBERGABE', 'full', 'angstrom', 'naive FACADE'];
      for (const query of spellings) expect(await find(query), query).toEqual(['flow_accents']);
    });

    it('of an earlier version are forgotten when a newer one takes its place', async () => {
      await add([sampleFlow('flow_title', { version: '2.0.0', title: 'Pelican crossing', summary: 'On lights.' })]);
      expect(await find('pelican')).toEqual(['flow_title']);
      expect(await find('zebra')).not.toContain('flow_title');
    });
  });

  describe('[FLR-search] signs are plain text, never operators', () => {
    beforeEach(() => add([TITLE, OTHER]));

    const SIGNS: [string, string[]][] = [
      ['zebra OR elephants', []],
      ['zebra AND crossing', []],
      ['zebra NOT crossing', []],
      ['NEAR(zebra crossing)', []],
      ['"zebra crossing"', ['flow_title']],
      ['"crossing zebra"', ['flow_title']],
      ['zebra*', ['flow_title']],
      ['^zebra', ['flow_title']],
      ['title:zebra', ['flow_title']],
      ['summary:zebra', []],
      ['zebra & crossing', ['flow_title']],
      ['zebra | elephants', []],
      ['!zebra', ['flow_title']],
      ['zebra <-> crossing', ['flow_title']],
      ['zebra:*', ['flow_title']],
      ['(zebra', ['flow_title']],
      ["zebra'); drop table flows; --", []],
      ["' or 1=1 --", []],
      ['zebra\\', ['flow_title']],
      ['zeb%', ['flow_title']],
      ['*', []],
      ['"', []],
      ['+-/:;.,', []],
      ['\u0000', []],
      ['zebra\u0000crossing', ['flow_title']],
    ];

    it('whichever they are, and nothing is harmed', async () => {
      for (const [query, expected] of SIGNS) {
        expect(await find(query), JSON.stringify(query)).toEqual(expected);
        expect(await find('elephants'), JSON.stringify(query)).toEqual(['flow_other']);
      }
    });

    it('and a query of any length the door lets through is answered', async () => {
      // U+3316 becomes six letters when folded: 9,000 bytes in one word, more than an index takes.
      for (const query of ['z'.repeat(500), '\u3316'.repeat(500), 'zebra '.repeat(83), '\u{1f993}'.repeat(250)]) {
        await expect(find(query)).resolves.toBeInstanceOf(Array);
      }
      await expect(find('z'.repeat(501))).rejects.toMatchObject({ code: 'BAD_REQUEST' });
      await expect(find('   ')).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    });

    it('and every valid flow can be indexed, however many different words it has', async () => {
      const words = (from: number) =>
        Array.from({ length: 900 }, (_, at) => (46_656 + from * 900 + at).toString(36)).join(' ');
      const large = sampleFlow('flow_large', { steps: 100 });
      const steps = large.steps.map((step, at) => ({ ...step, instruction: words(at), trigger: words(100 + at) }));
      await add([{ flow: large.flow, steps }]);
      expect(await find('large')).toEqual(['flow_large']);
    });
  });

  describe('[FLR-search] [S002-4-deny-by-default] what may not be seen leaves no trace', () => {
    const SECRET = [
      sampleFlow('flow_of_project', { scope: 'project', title: 'Quokka project' }),
      sampleFlow('flow_of_org', { scope: 'org', title: 'Quokka org' }),
    ];

    beforeEach(async () => {
      await add([...SECRET, sampleFlow('flow_mine', { title: 'Quokka mine' })]);
      await add([sampleFlow('flow_elsewhere', { title: 'Quokka elsewhere' })], 'else-where');
      await app.services.database.transaction(async (trx) => {
        const row = { vault_id: 'default', scopes_json: null, ambiguous: 0, created_at: '2026-01-01T00:00:00.000Z' };
        await trx
          .insertInto('users')
          .values({ user_id: 'vera', created_at: row.created_at, disabled_at: null })
          .execute();
        await trx
          .insertInto('memberships')
          .values({ ...row, user_id: 'vera', role: 'viewer' })
          .execute();
      });
    });

    it('a viewer’s answer is the same with and without project and org flows', async () => {
      const answer = await ask({ query: 'quokka', limit: 1 }, 'vera');
      expect(answer).toMatchObject({ effective_scope: 'personal', truncated: false });
      expect(answer.flows.map(({ flow_id }) => flow_id)).toEqual(['flow_mine']);
      for (const query of ['project', 'quokka org', 'flow_of_org'])
        expect(await find(query, 'vera'), query).toEqual([]);
      await expect(ask({ query: 'quokka', scope: 'org' }, 'vera')).rejects.toMatchObject({ code: 'FLOW_SCOPE_DENIED' });
    });

    it('a scope narrows', async () => {
      const inScope = async (scope: string) =>
        (await ask({ query: 'quokka', scope })).flows.map((flow) => flow.flow_id);
      expect(await inScope('project')).toEqual(['flow_of_project']);
      expect(await inScope('org')).toEqual(['flow_of_org']);
      expect(await inScope('personal')).toEqual(['flow_mine']);
    });

    it('another vault’s flows never appear, nor its name as a word', async () => {
      expect(await find('quokka')).not.toContain('flow_elsewhere');
      expect(await find('elsewhere')).toEqual([]);
      expect(await find('quokka', OWNER, 'else-where')).toEqual(['flow_elsewhere']);
      expect(await find('v64656661756c74'), 'the index’s own mark of a vault').toEqual([]);
    });
  });

  it('[FLR-search] a limit cuts and says so, best match kept', async () => {
    const many = Array.from({ length: 30 }, (_, at) =>
      sampleFlow(`flow_many_${at}`, { title: `Number ${at}`, instruction: 'Look at the walrus.' }),
    );
    await add([...many, sampleFlow('flow_walrus', { title: 'Walrus' })]);
    const three = await ask({ query: 'walrus', limit: 3 });
    expect(three).toMatchObject({ schema: 'flowright.flow_search/v1', query: 'walrus', truncated: true });
    expect(three.flows).toHaveLength(3);
    expect(three.flows[0]?.flow_id).toBe('flow_walrus');
    const exactly = await ask({ query: 'walrus', limit: 31 });
    expect({ found: exactly.flows.length, truncated: exactly.truncated }).toEqual({ found: 31, truncated: false });
    for (const limit of [0, 201, 1.5]) {
      await expect(ask({ query: 'walrus', limit })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    }
  });

  it('[FLR-search] once in the title outranks twice in each of twelve steps', async () => {
    await add([
      sampleFlow('flow_often', { title: 'A', steps: 12, instruction: 'Wake the walrus, then wash the walrus.' }),
      sampleFlow('flow_once', { title: 'All about the walrus', steps: 12 }),
    ]);
    expect(await find('walrus')).toEqual(['flow_once', 'flow_often']);
  });
});
