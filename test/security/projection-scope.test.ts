import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, currentClient } from '../integration/mcp-sessions.ts';
import { onFirstDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { importFlows } from './library.ts';
import { must, tokenFor } from './people.ts';
import { ask, expectRefusal } from './rest.ts';

const HARNESSES = ['cursor_rule', 'cursor_skill', 'cli_runbook', 'mcp_prompt'];
const SEEN: Record<string, string[]> = {
  vera: ['flow_mine'],
  edna: ['flow_mine', 'flow_team'],
  adam: ['flow_company', 'flow_mine', 'flow_moved', 'flow_team'],
};
const ALL = SEEN.adam as string[];
const SECRET = 'Zanzibar';
const nameOf = (flowId: string) => flowId.slice(5).replaceAll('_', '-');
const uriOf = (flowId: string) => `skill://flows/${nameOf(flowId)}/SKILL.md`;

onFirstDatabase((_engine, makeStore) => {
  let store: TestStore;
  let options: ProgramOptions;
  let hub: Hub;
  const tokens = new Map<string, string>();
  const closing: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    store = await makeStore();
    options = { home: store.home, databaseUrl: store.databaseUrl };
    await must(['vault', 'create', 'closed', '--no-starters'], options);
    await must(['vault', 'create', 'work', '--no-starters'], options);
    const hidden = { title: SECRET, summary: SECRET, instruction: SECRET };
    await importFlows(
      options,
      [
        sampleFlow('flow_mine'),
        sampleFlow('flow_team', { ...hidden, scope: 'project' }),
        sampleFlow('flow_company', { ...hidden, scope: 'org' }),
        sampleFlow('flow_moved', { ...hidden, version: '1.0.0' }),
        sampleFlow('flow_moved', { ...hidden, version: '2.0.0', scope: 'org' }),
      ],
      'work',
    );
    await importFlows(options, [sampleFlow('flow_elsewhere', hidden)], 'closed');
    const people: [string, string][] = [
      ['vera', 'viewer'],
      ['edna', 'editor'],
      ['adam', 'admin'],
      ['max', 'admin'],
    ];
    for (const [user, role] of people) tokens.set(user, await tokenFor(options, user, { role, vault: 'work' }));
    await must(['member', 'set', 'max', '--role', 'admin', '--ambiguous', '--vault', 'work'], options);
    hub = await startHub(options);
  });
  afterAll(async () => {
    for (const close of closing) await close();
    await hub?.stop();
    await store?.remove();
  });

  const connect = async (user: string, door: Caller['door']) => {
    const caller: Caller = { program: options, door, user, hub, vault: 'work' };
    const client = await currentClient({ ...caller, token: tokens.get(user) ?? '' }, { pin: '2026-07-28' });
    closing.push(() => client.close());
    return { client, skills: new SkillsClient(client) };
  };
  const project = (user: string, flowId: string, query: string) =>
    ask(hub, `/api/v1/flows/${flowId}/projection?${query}`, {
      token: tokens.get(user),
      headers: { 'x-request-id': 'scope-test' },
    });

  describe.each(Object.entries(SEEN))('[FLR-projection-scope] [S002-4-no-existence-leak] %s', (user, sees) => {
    const hidden = [...ALL.filter((flowId) => !sees.includes(flowId)), 'flow_elsewhere'];

    it('projects what it may see, and of the rest not even whether it is there', async () => {
      for (const harness of HARNESSES) {
        for (const flowId of sees) expect((await project(user, flowId, `harness=${harness}`)).status).toBe(200);
        for (const pin of ['', '&version=1.0.0', '&version=7.7.7']) {
          const missing = await project(user, 'flow_absent', `harness=${harness}${pin}`);
          expectRefusal(missing, 404, 'unknown_flow');
          for (const flowId of hidden) {
            const reply = await project(user, flowId, `harness=${harness}${pin}`);
            expect(reply.text.replaceAll(flowId, 'flow_absent')).toBe(missing.text);
          }
        }
      }
    });

    it.each(['stdio', 'HTTP'] as const)(
      'gets prompts, skills and resources of the same flows over %s',
      async (door) => {
        const { client, skills } = await connect(user, door);
        const { prompts } = await client.listPrompts();
        expect(prompts.map(({ name }) => name)).toEqual(sees.map(nameOf));
        const listed = await skills.list();
        expect(listed.skills.map(({ uri }) => uri)).toEqual(sees.map(uriOf));
        const { resources } = await client.listResources();
        expect(resources.map(({ uri }) => uri)).toEqual(sees.map(uriOf));
        const all = JSON.stringify([prompts, listed, resources]);
        expect(all.includes(SECRET)).toBe(user !== 'vera');
        for (const flowId of sees) {
          expect((await client.getPrompt({ name: nameOf(flowId) })).messages).toHaveLength(1);
          expect(await skills.read((await skills.get(uriOf(flowId))).skill)).toMatchObject({ verified: true });
        }
      },
    );

    it.each(['stdio', 'HTTP'] as const)('is told of the others as of what is not there, over %s', async (door) => {
      const { client } = await connect(user, door);
      const refusalOf = (work: Promise<unknown>) =>
        work.then(
          () => 'an answer',
          ({ code, message, data }) => JSON.stringify({ code, message, data }),
        );
      const asked = async (flowId: string) => {
        const texts = [
          await refusalOf(client.getPrompt({ name: nameOf(flowId) })),
          await refusalOf(new SkillsClient(client).get(uriOf(flowId))),
          await refusalOf(client.readResource({ uri: uriOf(flowId) })),
          JSON.stringify(
            await client.callTool({
              name: 'flow_project',
              arguments: { flow_id: flowId, harness: 'mcp_prompt' },
              _meta: { request_id: 'scope-test' },
            }),
          ),
        ];
        return texts.map((text) => text.replaceAll(flowId, 'X').replaceAll(nameOf(flowId), 'X'));
      };
      const missing = await asked('flow_absent');
      expect(missing).not.toContain('an answer');
      for (const flowId of hidden) expect(await asked(flowId), flowId).toEqual(missing);
    });

    it('a cursor says where to go on and nothing of what is there', async () => {
      const { client } = await connect(user, 'HTTP');
      const from = async (flowId: string) =>
        (await client.listPrompts({ cursor: Buffer.from(flowId).toString('base64url') })).prompts.map(
          ({ name }) => name,
        );
      for (const flowId of [...ALL, 'flow_a', 'flow_n', 'flow_z']) {
        expect(await from(flowId)).toEqual(sees.filter((seen) => seen > flowId).map(nameOf));
      }
    });
  });

  it.each(['stdio', 'HTTP'] as const)(
    '[S002-4-ambiguous] an ambiguous membership is refused everything over %s',
    async (door) => {
      const { client, skills } = await connect('max', door);
      const refused = { code: -32_602, data: { code: 'FLOW_SCOPE_AMBIGUOUS' } };
      await expect(client.listPrompts()).rejects.toMatchObject(refused);
      await expect(client.getPrompt({ name: 'mine' })).rejects.toMatchObject(refused);
      await expect(client.getPrompt({ name: 'absent' })).rejects.toMatchObject(refused);
      await expect(skills.list()).rejects.toMatchObject(refused);
      await expect(skills.get(uriOf('flow_mine'))).rejects.toMatchObject(refused);
      await expect(client.listResources()).rejects.toMatchObject(refused);
      await expect(client.readResource({ uri: uriOf('flow_mine') })).rejects.toMatchObject(refused);
      for (const harness of HARNESSES) {
        expectRefusal(await project('max', 'flow_mine', `harness=${harness}`), 400, 'FLOW_SCOPE_AMBIGUOUS');
      }
    },
  );

  it('[FLR-projection-scope] what one caller was given is not kept for another', async () => {
    const adam = await connect('adam', 'HTTP');
    const vera = await connect('vera', 'HTTP');
    for (let round = 0; round < 3; round += 1) {
      expect((await adam.client.listPrompts()).prompts).toHaveLength(4);
      expect((await vera.client.listPrompts()).prompts).toHaveLength(1);
      expect((await adam.skills.list()).skills).toHaveLength(4);
      expect((await vera.skills.list()).skills).toHaveLength(1);
      await adam.skills.get(uriOf('flow_company'));
      await expect(vera.skills.get(uriOf('flow_company'))).rejects.toMatchObject({ code: -32_602 });
    }
  });

  it('[S002-4-vault-binding] a vault that is not the caller’s is not there', async () => {
    const token = tokens.get('vera') ?? '';
    const reply = await ask(hub, '/api/v1/flows/flow_elsewhere/projection?harness=mcp_prompt', {
      token,
      headers: { 'x-vault-id': 'closed' },
    });
    expect(reply.status).toBe(404);
    expect(reply.text).not.toContain(SECRET);
    const caller = { program: options, door: 'HTTP', user: 'vera', hub, token, vault: 'closed' } as const;
    await expect(currentClient(caller, { pin: '2026-07-28' })).rejects.toThrow();
  });
});
