import { describe, expect, it } from 'vitest';
import { readAddress } from '../../src/flowise/client/address.ts';
import { authHeaders } from '../../src/flowise/client/authentication.ts';
import { permissionFor } from '../../src/flowise/client/permissions.ts';
import { quotable } from '../../src/flowise/client/redact.ts';
import { exchangeWithRetries } from '../../src/flowise/client/retry.ts';
import { readChatflow, readList, readNode, readVariable } from '../../src/flowise/client/shapes.ts';
import type { Failure, Outcome } from '../../src/flowise/client/transport.ts';

describe('the address of a server', () => {
  it.each([
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://127.0.0.1:3000/', 'http://127.0.0.1:3000'],
    ['http://127.0.0.1:3000/api/v1', 'http://127.0.0.1:3000'],
    ['http://127.0.0.1:3000/api/v1/', 'http://127.0.0.1:3000'],
    ['https://flows.example.com/team/flowise//', 'https://flows.example.com/team/flowise'],
    ['https://flows.example.com/team/api/v1/', 'https://flows.example.com/team'],
    [' http://[::1]:3000 ', 'http://[::1]:3000'],
    ['http://user:pa%2Fss@host/', 'http://host'],
  ])('%s is %s', (text, url) => {
    expect(readAddress(text)?.url).toBe(url);
  });

  it('gives up a name and password that stand in it', () => {
    expect(readAddress('http://user:pa%2Fss@host/')).toMatchObject({ username: 'user', password: 'pa/ss' });
  });

  it.each(['', 'flowise', 'ftp://host', 'http://', 'http://host/?key=1', 'http://host/#x', 'http://%zz@host'])(
    '%j is none',
    (text) => {
      expect(readAddress(text)).toBeNull();
    },
  );
});

describe('[FLR-flowise-auth] headers', () => {
  it('hold a key, or a name and password, or nothing; all but a key come from within', () => {
    expect(authHeaders({ kind: 'key', key: 'k' })).toEqual({ authorization: 'Bearer k' });
    expect(authHeaders({ kind: 'basic', username: 'admin', password: 'pässword' })).toEqual({
      authorization: `Basic ${Buffer.from('admin:pässword').toString('base64')}`,
      'x-request-from': 'internal',
    });
    expect(authHeaders({ kind: 'none' })).toEqual({ 'x-request-from': 'internal' });
  });
});

describe('[FLR-flowise-error-words] quoted words', () => {
  const quote = (text: string) => quotable(text, ['hunter2/+']);

  it.each([
    ['the key hunter2/+ is wrong', 'the key [secret] is wrong'],
    ['in hunter2%2F%2B an address', 'in [secret] an address'],
    ['Authorization: Bearer abcdef123456', 'Authorization: [secret]'],
    ['sent Bearer abcdef123456 to it', 'sent Bearer [secret] to it'],
    ['{"apiKey":"abc","x":1}', '{"apiKey":"[secret]","x":1}'],
    ['password=abc&x=1', 'password=[secret]&x=1'],
    ['Incorrect API key provided: sk-proj-abcdefghijklmnopqrst.', 'Incorrect API key provided: [secret]'],
    ['postgres://me:secret@host/db is down', '[secret] is down'],
    ['nothing to\n  hide\u001b[31m', 'nothing to hide\\u001b[31m'],
  ])('%j', (text, quoted) => {
    expect(quote(text)).toBe(quoted);
  });

  it('are at most 300 characters and end between two', () => {
    const quoted = quote('😀'.repeat(400));
    expect(quoted.length).toBeLessThanOrEqual(300);
    expect(quoted.endsWith('😀…')).toBe(true);
  });

  it('are found in time linear in what is looked at', () => {
    const start = performance.now();
    quote(`${'token '.repeat(1_000_000)}`);
    quote('a'.repeat(5_000_000));
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

describe('[FLR-flowise-once] repetition', () => {
  const failing = (kind: Failure['kind']): Outcome => ({ failure: { kind, reason: '', mayHaveArrived: true } });
  const answering = (status: number): Outcome => ({
    answer: { status, contentType: '', location: null, text: '' },
  });

  it.each([
    ['GET', 'no connection', failing('unreachable'), 3],
    ['GET', 'a broken connection', failing('broken'), 3],
    ['GET', 'a timeout', failing('timeout'), 2],
    ['GET', 'a gateway that says 503', answering(503), 3],
    ['GET', 'too much', failing('too_large'), 1],
    ['GET', 'a refusal', answering(500), 1],
    ['GET', 'an answer', answering(200), 1],
    ['POST', 'a broken connection', failing('broken'), 1],
    ['PUT', 'a gateway that says 502', answering(502), 1],
    ['DELETE', 'a timeout', failing('timeout'), 1],
  ] as const)('of a %s after %s', async (method, _, outcome, expected) => {
    let tries = 0;
    const send = async () => {
      tries += 1;
      return outcome;
    };
    await exchangeWithRetries({ method, path: '/', timeoutMs: 1 }, send, { delayMs: 0 });
    expect(tries).toBe(expected);
  });
});

describe('[FLR-flowise-shapes] what was sent', () => {
  it('is a list, bare or as one whole page', () => {
    const read = (entry: unknown) => (typeof entry === 'number' ? entry : null);
    expect(readList([1, 2], read)).toEqual([1, 2]);
    expect(readList({ data: [1, 2], total: 2 }, read)).toEqual([1, 2]);
    expect(readList({ data: [1, 2], total: 9 }, read)).toContain('2 of 9');
    expect(readList({ message: 'x' }, read)).toContain('list');
    expect(readList('x', read)).toContain('list');
    expect(readList([1, 'x'], read)).toContain('entry 1');
  });

  it('is completed where a node of somebody’s own lacks a field, and refused without a name', () => {
    expect(readNode({ name: 'mine', version: '2', inputs: [] })).toEqual({
      name: 'mine',
      label: 'mine',
      version: 2,
      type: 'mine',
      category: '',
      baseClasses: [],
      inputs: [],
    });
    expect(readNode({ label: 'x' })).toBeNull();
  });

  it('keeps what a chatflow has but its secrets; Flowise 2 has no type', () => {
    const sent = { id: 'a', name: 'n', flowData: '{}', type: null, other: 1, webhookSecret: 's', mcpServerConfig: 's' };
    expect(readChatflow(sent)).toEqual({ id: 'a', name: 'n', flowData: '{}', type: null, other: 1 });
    expect(readChatflow({ id: 'a', name: 'n', flowData: {} })).toBeNull();
    expect(readVariable({ id: 'v', name: 'n', type: 'static', value: 'secret' })).toEqual({
      id: 'v',
      name: 'n',
      type: 'static',
    });
  });
});

describe('[FLR-flowise-permission] the permission', () => {
  it.each([
    ['GET', '/chatflows', undefined, 'chatflows:view'],
    ['PUT', '/chatflows/1', 'CHATFLOW', 'chatflows:update'],
    ['POST', '/chatflows', 'AGENTFLOW', 'agentflows:create'],
    ['DELETE', '/chatflows/1', undefined, 'chatflows:delete'],
    ['GET', '/credentials', undefined, 'credentials:view'],
    ['GET', '/marketplaces/templates', undefined, 'templates:marketplace'],
    ['GET', '/nodes', undefined, null],
  ])('of %s %s (%s) is %s', (method, route, type, permission) => {
    expect(permissionFor(method, route, type)).toBe(permission);
  });
});
