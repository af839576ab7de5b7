import { createHash } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import { SKILLS_EXTENSION_ID, SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flowStateId } from '../../src/flows/index.ts';
import { projectFlow } from '../../src/projection/index.ts';
import { importFlows } from '../security/library.ts';
import { must, tokenFor } from '../security/people.ts';
import { onFirstDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { type Caller, currentClient, previousClient } from './mcp-sessions.ts';

const uriOf = (name: string) => `skill://flows/${name}/SKILL.md`;
const sha256 = (text: string) => `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
const hostile = '--- \n"""\n--> <!-- x -->\n\u0000\u001b[2J\ud800 : # "quoted" \\n';

onFirstDatabase((_engine, makeStore) => {
  let store: TestStore;
  let program: ProgramOptions;
  let hub: Hub;
  let owner: Omit<Caller, 'door'>;

  beforeAll(async () => {
    store = await makeStore();
    program = { home: store.home, databaseUrl: store.databaseUrl };
    await must(['vault', 'create', 'many', '--no-starters'], program);
    await must(['vault', 'create', 'few', '--no-starters'], program);
    const many = Array.from({ length: 250 }, (_, at) =>
      sampleFlow(`flow_n${String(at).padStart(3, '0')}`, { steps: 1 }),
    );
    await importFlows(program, many, 'many');
    await importFlows(
      program,
      [
        sampleFlow('flow_a_b', { version: '1.9.0' }),
        sampleFlow('flow_a__b'),
        sampleFlow('flow__a_b'),
        sampleFlow('flow_a_b_'),
        sampleFlow('flow_hostile', { title: 'T', summary: hostile, instruction: hostile }),
        sampleFlow('flow_123', { summary: '' }),
      ],
      'few',
    );
    await importFlows(program, [sampleFlow('flow_a_b', { version: '1.10.0' })], 'few');
    hub = await startHub(program);
    owner = { program, user: 'local', hub, token: await tokenFor(program, 'local', { role: 'admin' }) };
  });
  afterAll(async () => {
    await hub?.stop();
    await store?.remove();
  });

  const CLIENTS = (['stdio', 'HTTP'] as const).flatMap((door) =>
    ([{ pin: '2026-07-28' }, 'legacy'] as const).map((mode) => ({ door, mode })),
  );

  describe.each(CLIENTS)('[FLR-mcp-skills] skills for a client at $mode over $door', ({ door, mode }) => {
    const clients = new Map<string, Promise<Client>>();
    const to = async (vault = '') => {
      const opened = clients.get(vault) ?? currentClient({ ...owner, door, ...(vault ? { vault } : {}) }, mode);
      clients.set(vault, opened);
      const client = await opened;
      return { client, skills: new SkillsClient(client) };
    };
    afterAll(async () => {
      for (const client of clients.values()) await (await client).close();
    });

    it('are announced as the extension', async () => {
      const { client, skills } = await to();
      expect(client.getServerCapabilities()?.extensions).toMatchObject({ [SKILLS_EXTENSION_ID]: {} });
      expect(client.getServerCapabilities()).toMatchObject({ tools: {}, prompts: {}, resources: {} });
      expect({ supported: skills.supported, directories: skills.directoryRead }).toEqual({
        supported: true,
        directories: false,
      });
    });

    it('are the six starters, with digests that hold', async () => {
      const { skills } = await to();
      const { skills: entries, invalid } = await skills.list();
      expect(invalid).toEqual([]);
      expect(entries.map(({ frontmatter }) => frontmatter.name)).toEqual([
        'capture-to-note',
        'multi-repo-change',
        'overseer-handover',
        'research-brief',
        'reviewed-writeback',
        'session-to-flow',
      ]);
      for (const entry of entries) {
        const file = await skills.read(entry);
        expect(file).toMatchObject({ verified: true, mimeType: 'text/markdown' });
        expect(entry.resources).toEqual([{ uri: entry.uri, digest: sha256(file.text ?? ''), size: file.bytes.length }]);
        expect(await skills.get(entry.uri)).toMatchObject({ skill: entry });
      }
    });

    it('come in pages when there are many, each flow once', async () => {
      const { client, skills } = await to('many');
      const { skills: entries } = await skills.list();
      expect(entries.map(({ frontmatter }) => frontmatter.name)).toEqual(
        Array.from({ length: 250 }, (_, at) => `n${String(at).padStart(3, '0')}`),
      );
      const cursorTo = (flowId: string) => Buffer.from(flowId).toString('base64url');
      const page = await skills.list({ cursor: cursorTo('flow_n099') });
      expect(page.skills).toHaveLength(100);
      expect(page.nextCursor).toBe(cursorTo('flow_n199'));
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual(entries.map(({ uri }) => uri));
      await expect(skills.list({ cursor: 'nonsense' })).rejects.toMatchObject({ code: -32_602 });
    });

    it('are the latest version, with version and state id', async () => {
      const { skills } = await to('few');
      const { skill } = await skills.get(uriOf('a-b'));
      const latest = sampleFlow('flow_a_b', { version: '1.10.0' });
      expect(skill.frontmatter).toEqual({
        name: 'a-b',
        description: 'A flow for tests.',
        metadata: {
          flow_id: 'flow_a_b',
          version: '1.10.0',
          state_id: flowStateId(latest.flow, latest.steps),
        },
      });
      const file = await skills.read(skill);
      expect(file.text).toBe(projectFlow(latest.flow, latest.steps, 'cursor_skill').rendered);
    });

    it('[S002-9.7-injection] are sound whatever a flow says', async () => {
      const { skills } = await to('few');
      const { skill } = await skills.get(uriOf('hostile'));
      expect(Object.keys(skill.frontmatter)).toEqual(['name', 'description', 'metadata']);
      const file = await skills.read(skill);
      expect(file).toMatchObject({ verified: true, frontmatter: skill.frontmatter });
      const digits = await skills.get(uriOf('123'));
      expect(digits.skill.frontmatter).toMatchObject({ name: '123', description: 'Title of flow_123' });
    });

    it('[FLR-projection-names] leave out the flows whose id makes no legal name', async () => {
      const { client, skills } = await to('few');
      const { skills: entries } = await skills.list();
      expect(entries.map(({ frontmatter }) => frontmatter.name)).toEqual(['123', 'a-b', 'hostile']);
      for (const uri of [
        uriOf('a--b'),
        uriOf('-a-b'),
        uriOf('a-b-'),
        uriOf('a_b'),
        uriOf('nothing'),
        uriOf('flow_a_b'),
        'skill://flows/a-b/OTHER.md',
        'skill://flows/a-b/x/SKILL.md',
        'skill://flows/SKILL.md',
        'skill://other/a-b/SKILL.md',
        `${uriOf('a-b')}?x=1`,
        `${uriOf('a-b')}#x`,
        'skill://flows/%61-b/SKILL.md',
        'skill://flows/x/../a-b/../c/SKILL.md',
      ]) {
        await expect(skills.get(uri), uri).rejects.toMatchObject({ code: -32_602 });
        await expect(client.readResource({ uri }), uri).rejects.toThrow();
      }
    });

    it('are for this caller only as long as they are asked for', async () => {
      if (mode === 'legacy') return;
      const { skills } = await to('few');
      expect(await skills.list()).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
      expect(await skills.get(uriOf('a-b'))).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    });
  });

  it('[FLR-mcp-skills] a v1 client, which knows no skills, can read them as resources', async () => {
    for (const door of ['stdio', 'HTTP'] as const) {
      const client = await previousClient({ ...owner, door, vault: 'few' });
      const { resources } = await client.listResources();
      expect(resources.map(({ name }) => name)).toEqual(['123', 'a-b', 'hostile']);
      const { contents } = await client.readResource({ uri: uriOf('a-b') });
      expect(contents).toMatchObject([{ uri: uriOf('a-b'), mimeType: 'text/markdown' }]);
      await client.close();
    }
  });
});
