import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import type { AnyOperation } from '../../src/operations/index.ts';
import { createHttpServer } from '../../src/surfaces/http/server.ts';
import { openTestApp } from '../support/app.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';

const LIMIT = 3_000_000;

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let app: App;
  let server: Awaited<ReturnType<typeof createHttpServer>>;
  let authorization: string;

  beforeEach(async () => {
    store = await makeStore();
    app = await openTestApp(store, { env: { FLOWRIGHT_ATTACHMENT_LIMIT_BYTES: String(LIMIT) } });
    server = await createHttpServer(app);
    const principal = await app.principals.local({
      identity: 'local',
      vaultId: 'default',
      narrowTo: null,
      agent: false,
    });
    const call = { principal, door: 'cli', request_id: 'test', correlation_id: undefined } as const;
    const operations = await app.catalogue.inNamespace('token');
    const create = operations.find(({ name }) => name === 'token.create') as AnyOperation;
    const { token } = (await app.invoke(create, call, { user: 'local' })) as { token: string };
    authorization = `Bearer ${token}`;
  });
  afterEach(async () => {
    await server.close();
    await app.close();
    await store.remove();
  });

  const ask = (method: 'GET' | 'POST' | 'DELETE', url: string, body?: unknown, more: Record<string, string> = {}) =>
    server.inject({
      method,
      url: `/api${url}`,
      headers: {
        authorization,
        host: '127.0.0.1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...more,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
  const upload = async (body: Record<string, unknown>): Promise<number> => {
    const response = await ask('POST', '/attachments', body);
    expect(response.statusCode, response.body.slice(0, 300)).toBe(201);
    return response.json().item.id;
  };

  describe('[FLR-attachment-download] a file over REST', () => {
    it('comes as its bytes, to be saved', async () => {
      const bytes = Buffer.from([137, 80, 78, 71, 0, 255]);
      const id = await upload({ file_name: 'Bild ü.png', content_base64: bytes.toString('base64') });
      const response = await ask('GET', `/attachments/${id}/file`);
      expect(response.statusCode).toBe(200);
      expect(response.rawPayload.equals(bytes)).toBe(true);
      expect(response.headers).toMatchObject({
        'content-type': 'image/png',
        'content-length': '6',
        'content-disposition': `attachment; filename="Bild _.png"; filename*=UTF-8''Bild%20%C3%BC.png`,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
    });

    it('is never a page of the hub', async () => {
      const content_text = '<script>alert(document.cookie)</script>';
      for (const content_type of ['text/html', 'image/svg+xml', 'application/xhtml+xml']) {
        const id = await upload({ file_name: 'x.html', content_type, content_text });
        const { headers, body } = await ask('GET', `/attachments/${id}/file`, undefined, { accept: 'text/html,*/*' });
        expect(headers['content-type']).toBe('application/octet-stream');
        expect(headers['content-disposition']).toMatch(/^attachment; /);
        expect(headers['content-security-policy']).toContain('sandbox');
        expect(body).toBe(content_text);
      }
    });

    it('is the payload of every other door for who takes JSON only', async () => {
      const id = await upload({ file_name: 'a.txt', content_text: 'hello' });
      const response = await ask('GET', `/attachments/${id}/file`, undefined, { accept: 'application/json' });
      expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(response.json()).toMatchObject({ ok: true, id, file_name: 'a.txt', content_base64: 'aGVsbG8=' });
    });

    it('that is not there is an error as any other', async () => {
      const response = await ask('GET', '/attachments/999/file');
      expect([response.statusCode, response.json().code]).toEqual([404, 'NOT_FOUND']);
    });
  });

  it('[FLR-attachment-limit] an upload may be larger than other requests, up to its own limit', async () => {
    const big = { file_name: 'big', content_base64: Buffer.alloc(LIMIT, 7).toString('base64') };
    const id = await upload(big);
    expect((await ask('GET', `/attachments/${id}/file`)).rawPayload).toHaveLength(LIMIT);
    const more = { ...big, content_base64: Buffer.alloc(LIMIT + 1).toString('base64') };
    const refused = await ask('POST', '/attachments', more);
    expect([refused.statusCode, refused.json().code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const far = await ask('POST', '/attachments', { file_name: 'x', content_text: 'x'.repeat(2 * LIMIT) });
    expect([far.statusCode, far.json().code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const elsewhere = await ask('POST', '/memories', { description: 'x'.repeat(LIMIT) });
    expect([elsewhere.statusCode, elsewhere.json().code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });
});
