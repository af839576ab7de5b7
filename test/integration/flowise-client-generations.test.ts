import { describe, expect, it, onTestFinished } from 'vitest';
import type { FlowiseAuth } from '../../src/flowise/client/authentication.ts';
import { createClient } from '../../src/flowise/client/create-client.ts';
import { type FakeFlowise, type FakeFlowiseOptions, useFakeFlowise } from '../support/fake-flowise/index.ts';

const ABSENT = '00000000-0000-4000-8000-000000000000';
const EMPTY = '{"nodes":[],"edges":[]}';

async function open(options: FakeFlowiseOptions, authOf: (fake: FakeFlowise) => FlowiseAuth) {
  const fake = await useFakeFlowise(options);
  const client = createClient({ server: 'lab', url: fake.url, auth: authOf(fake), timeoutSeconds: 5 });
  onTestFinished(() => client.close(0));
  return client;
}

describe('[FLR-flowise-auth] [FLR-flowise-missing] a whole life', () => {
  it.each<[string, FakeFlowiseOptions, (fake: FakeFlowise) => FlowiseAuth]>([
    ['Flowise 3 with a key', {}, ({ apiKey }) => ({ kind: 'key', key: apiKey })],
    ['Flowise 2 with a key', { version: '2.2.8' }, ({ apiKey }) => ({ kind: 'key', key: apiKey })],
    [
      'Flowise 2 with a name and password',
      { version: '2.2.8', basic: { username: 'admin', password: 'pw' } },
      () => ({ kind: 'basic', username: 'admin', password: 'pw' }),
    ],
    ['Flowise 2 that asks for nothing', { version: '2.2.8' }, () => ({ kind: 'none' })],
  ])('on %s', async (_, options, authOf) => {
    const client = await open(options, authOf);
    await client.ping();
    expect(await client.version()).toMatch(/^[23]\./);
    expect((await client.listNodes()).length).toBeGreaterThan(10);
    expect(await client.getNode('noSuchNode')).toBeNull();
    const made = await client.createChatflow({ name: 'One', flowData: EMPTY, type: 'CHATFLOW' });
    expect(await client.updateChatflow(made.id, { name: 'Two' })).toMatchObject({ id: made.id, name: 'Two' });
    expect(await client.getChatflow(made.id)).toMatchObject({ name: 'Two', flowData: EMPTY });
    expect((await client.listChatflows()).map(({ id }) => id)).toEqual([made.id]);
    expect(await client.deleteChatflow(made.id)).toBe(true);
    expect(await client.deleteChatflow(ABSENT)).toBe(false);
    expect(await client.getChatflow(ABSENT)).toBeNull();
    expect(await client.getChatflow('no-uuid')).toBeNull();
    await expect(client.updateChatflow(ABSENT, { name: 'x' })).rejects.toMatchObject({ code: 'FLOWISE_NOT_FOUND' });
    await expect(client.predict(ABSENT, { question: 'x' })).rejects.toMatchObject({ code: 'FLOWISE_NOT_FOUND' });
    const tool = await client.createTool({ name: 't', description: 'd', color: '#fff', schema: '[]', func: '' });
    expect((await client.listTools()).map(({ id }) => id)).toEqual([tool.id]);
    expect(await client.deleteTool(tool.id)).toBe(true);
    expect(await client.listVariables()).toEqual([]);
    expect(await client.listCredentials()).toEqual([]);
  });

  it('ends at a wrong key', async () => {
    const client = await open({}, () => ({ kind: 'key', key: 'wrong' }));
    await client.ping();
    await expect(client.listNodes()).rejects.toMatchObject({ code: 'FLOWISE_UNAUTHORIZED' });
  });
});
