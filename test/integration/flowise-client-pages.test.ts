import { describe, expect, it, onTestFinished } from 'vitest';
import { type ClientOptions, createClient } from '../../src/flowise/client/create-client.ts';
import type { FlowrightError } from '../../src/kernel/errors.ts';
import { type FakeFlowise, type FakeFlowiseOptions, useFakeFlowise } from '../support/fake-flowise/index.ts';
import { json, startRudeServer } from '../support/rude-server.ts';

/** So small that a page of a few flows is too large. */
const MAX_BYTES = 20_000;
const flowOf = (chars: number): string => JSON.stringify({ nodes: [], edges: [], note: 'x'.repeat(chars) });

function clientFor({ url, apiKey }: { url: string; apiKey: string }, more: Partial<ClientOptions> = {}) {
  const auth = { kind: 'key', key: apiKey } as const;
  const client = createClient({ server: 'lab', url, auth, timeoutSeconds: 5, retryDelayMs: 1, ...more });
  onTestFinished(() => client.close(0));
  return client;
}

async function open(sizes: readonly number[], options: FakeFlowiseOptions = {}, more: Partial<ClientOptions> = {}) {
  const fake = await useFakeFlowise(options);
  for (const [at, size] of sizes.entries()) fake.rows.addChatflow({ name: `flow ${at}`, flowData: flowOf(size) });
  return { fake, client: clientFor(fake, { maxBytes: MAX_BYTES, ...more }) };
}

const refused = (work: Promise<unknown>): Promise<FlowrightError> =>
  work.then(
    () => new Error('answered') as never,
    (error: FlowrightError) => error,
  );

const pagesOf = ({ requests }: FakeFlowise): string[] =>
  requests.of('GET', '/chatflows').map(({ query }) => `${query.get('page')}/${query.get('limit')}`);

describe('[FLR-flowise-pages] chatflows', () => {
  it('come in one request where they are few', async () => {
    const { fake, client } = await open([10, 10, 10]);
    expect(await client.listChatflows()).toHaveLength(3);
    expect(pagesOf(fake)).toEqual(['1/100']);
  });

  it('come in smaller pages where they are large, and each once', async () => {
    // Ten together are too large in the second ten only, and all of them in a hundred.
    const sizes = Array.from({ length: 25 }, (_, at) => (at >= 10 && at < 20 ? 4_000 : 800));
    const { fake, client } = await open(sizes);
    const found = await client.listChatflows();
    expect(new Set(found.map(({ name }) => name)).size).toBe(25);
    expect(pagesOf(fake).slice(0, 4)).toEqual(['1/100', '1/10', '2/10', '11/1']);
    expect(pagesOf(fake).at(-1)).toBe('3/10');
    expect(await client.countChatflows()).toBe(25);
    expect(await client.listChatflows({ type: 'AGENTFLOW' })).toEqual([]);
  });

  it('of more than a hundred come in hundreds', async () => {
    const { fake, client } = await open(
      Array.from({ length: 250 }, () => 1),
      {},
      { maxBytes: 1_000_000 },
    );
    expect(await client.listChatflows()).toHaveLength(250);
    expect(pagesOf(fake)).toEqual(['1/100', '2/100', '3/100']);
  });

  it('of which one alone is too large are refused with which, and what to do', async () => {
    const { client } = await open([10, MAX_BYTES, 10]);
    const error = await refused(client.listChatflows());
    expect(error).toMatchObject({ code: 'FLOWISE_BAD_ANSWER', details: { position: 2 } });
    expect(error.message).toMatch(/even for one chatflow a page\. Either chatflow 2 of its list, newest first,/);
    expect(error.message).not.toContain('Check that the address');
  });

  it('too large by itself is refused with what to do', async () => {
    const { fake, client } = await open([MAX_BYTES]);
    const [id = ''] = [...fake.rows.chatflows.keys()];
    const error = await refused(client.getChatflow(id));
    expect(error.message).toMatch(/more than 0 MB, and no more is read at once\. Make that chatflow smaller/);
  });

  it('of Flowise 2 come all at once, and are counted so', async () => {
    const server = await startRudeServer();
    onTestFinished(() => server.close());
    const flows = Array.from({ length: 120 }, (_, at) => ({ id: `c-${at}`, name: 'n', flowData: '{}' }));
    server.on('/api/v1/chatflows', json(flows));
    const client = clientFor({ url: server.url, apiKey: 'k' });
    expect(await client.listChatflows()).toHaveLength(120);
    expect(await client.countChatflows()).toBe(120);
    expect(server.received).toHaveLength(2);
  });

  it('that somebody saves meanwhile are read again, so that none is missed', async () => {
    const { fake, client } = await open(
      Array.from({ length: 150 }, () => 1),
      {},
      { maxBytes: 1_000_000 },
    );
    const oldest = [...fake.rows.chatflows.values()].at(-1);
    const edit = () => {
      // The oldest becomes the newest: the second page now begins with what the first one ended with.
      if (oldest) oldest.updatedDate = '2999-01-01T00:00:00.000Z';
    };
    fake.fault('GET', '/chatflows', { kind: 'none', times: 1 });
    fake.fault('GET', '/chatflows', { kind: 'none', times: 1, before: edit });
    expect(new Set((await client.listChatflows()).map(({ id }) => id)).size).toBe(150);
    expect(pagesOf(fake)).toEqual(['1/100', '2/100', '1/100', '2/100']);
  });

  it('are not believed where pages do not add up, and are bounded altogether', async () => {
    const server = await startRudeServer();
    onTestFinished(() => server.close());
    const one = { id: 'c-1', name: 'n', flowData: '{}' };
    const client = clientFor({ url: server.url, apiKey: 'k' }, { maxBytes: MAX_BYTES });
    server.on('/api/v1/chatflows', json({ data: [one], total: 3 }));
    expect((await refused(client.listChatflows())).message).toContain('try again in a moment');
    expect(server.received).toHaveLength(3);
    server.on('/api/v1/chatflows', json({ data: [one], total: 1e9 }));
    expect((await refused(client.listChatflows())).message).toContain('more than 100000 chatflows');
    const { client: rich } = await open(Array.from({ length: 20 }, () => 15_000));
    expect((await refused(rich.listChatflows())).message).toContain('name the one you mean by its id');
  });
});
