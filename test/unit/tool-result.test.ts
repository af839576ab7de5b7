import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { FlowrightError } from '../../src/kernel/errors.ts';
import {
  DIGEST_CHARS,
  digestList,
  resultToText,
  runTool,
  type ToolEvent,
  type ToolResult,
  toToolResult,
} from '../../src/operations/index.ts';

/** Put together here, so that no scanner takes this file for a leak. */
const KEY = ['sk', 'proj', 'aB3dE6gH9k'.repeat(4)].join('-');

describe('a raw answer as a ToolResult', () => {
  it('[S001-tool-result] [S001-wrap-id] has six fields, and names a chatflow', () => {
    const raw = { id: 'abc', name: 'Bot' };
    expect(toToolResult('test', raw)).toEqual({
      ok: true,
      summary: "Chatflow 'Bot' (id=abc).",
      facts: { chatflow_id: 'abc', chatflow_name: 'Bot' },
      data: raw,
      error: null,
      artifacts: { chatflow_ids: ['abc'] },
    } satisfies ToolResult);
  });

  it('[S001-wrap-error] fails with the message of the error', () => {
    const result = toToolResult('get_chatflow', { error: 'it is not there', id: 'x', valid: true });
    expect(result.ok).toBe(false);
    expect(result.summary).toBe('get_chatflow failed: it is not there');
    expect(result.error).toEqual({ type: 'ToolError', message: 'it is not there', detail: null });
  });

  it('[FLR-tool-error-body] tells what another server said, cut at 300 characters', () => {
    const body = JSON.stringify({
      statusCode: 500,
      success: false,
      message: `Ending nodes not found ${'x'.repeat(500)}`,
    });
    const { summary } = toToolResult('predict', { error: 'HTTP 500', body });
    expect(summary).toMatch(/^predict failed: HTTP 500: Ending nodes not found x+…$/);
    expect(summary.length).toBe('predict failed: HTTP 500: '.length + 300);
  });

  it.each([
    [{ error: { message: 'no key' } }, 'no key'],
    [{ error: 'HTTP 400', detail: 'Invalid Chatflow Type' }, 'HTTP 400: Invalid Chatflow Type'],
    [{ error: 'same', message: 'same', code: 'X' }, 'same'],
    [{ error: { code: 7 } }, '{"code":7}'],
  ])('[S001-wrap-error] finds the words of %j', (raw, message) => {
    expect(toToolResult('t', raw).summary).toBe(`t failed: ${message}`);
  });

  it('takes a field that says there was no error at its word', () => {
    expect(toToolResult('t', { error: null, id: '1', name: 'A' }).summary).toBe("Chatflow 'A' (id=1).");
  });

  it('[S001-wrap-valid] passes a flow with its counts', () => {
    const result = toToolResult('validate_flow_data', { valid: true, node_count: 3, edge_count: 2 });
    expect(result).toMatchObject({
      ok: true,
      summary: 'Flow data valid: 3 nodes, 2 edges.',
      facts: { node_count: 3, edge_count: 2 },
    });
  });

  it('[S001-wrap-valid] fails a flow with its first error', () => {
    const errors = ['a is wrong', 'b', 'c', 'd'];
    const result = toToolResult('validate_flow_data', { valid: false, errors });
    expect(result).toMatchObject({
      ok: false,
      summary: 'Flow data invalid: 4 error(s). First: a is wrong',
      facts: { validation_errors: errors },
      error: { type: 'ValidationError', detail: ['a is wrong', 'b', 'c'] },
    });
    const issues = [{ code: 'invalid_type', message: 'must be a list', path: '/nodes' }];
    expect(toToolResult('v', { valid: false, errors: issues }).summary).toBe(
      'Flow data invalid: 1 error(s). First: /nodes must be a list',
    );
  });

  it('[S001-wrap-snapshot] tells the label and how many there are', () => {
    const result = toToolResult('snapshot', { snapshotted: true, version_label: 'v2.0', total: 2 });
    expect(result).toMatchObject({
      ok: true,
      summary: 'Snapshot saved as v2.0 (total: 2).',
      facts: { snapshot_label: 'v2.0' },
      artifacts: { snapshot_labels: ['v2.0'] },
    });
  });

  it('[S001-wrap-list] counts a list', () => {
    expect(toToolResult('list_nodes', [1, 2, 3])).toMatchObject({
      ok: true,
      summary: 'list_nodes returned 3 item(s).',
      facts: { count: 3 },
    });
    expect(toToolResult('list_nodes', []).summary).toBe('list_nodes returned 0 item(s).');
  });

  it('[S001-wrap-object] shows the first 200 characters of any other object', () => {
    const raw = { text: 'word '.repeat(100) };
    expect(toToolResult('get', raw).summary).toBe(JSON.stringify(raw).slice(0, 200));
    expect(toToolResult('get', { a: 1 }).summary).toBe('{"a":1}');
  });

  it('[S001-wrap-text] shows the first 300 characters of anything else', () => {
    expect(toToolResult('say', 'hello').summary).toBe('hello');
    expect(toToolResult('say', 7).summary).toBe('7');
    expect(toToolResult('say', null).summary).toBe('null');
    expect(toToolResult('say', undefined).summary).toBe('undefined');
    const { summary } = toToolResult('say', 'word '.repeat(100));
    expect(summary.length).toBe(300);
    expect('word '.repeat(100).startsWith(summary.slice(0, -1))).toBe(true);
  });

  it('[FLR-wrap-once] leaves a ToolResult as it is', () => {
    const result = toToolResult('test', { id: 'abc', name: 'Bot' });
    expect(toToolResult('other', result, { digest: () => 'never asked' })).toBe(result);
    expect(toToolResult('other', { ok: true, summary: 'a reply that only looks alike' }).summary).toMatch(/^{"ok"/);
  });

  it('[S001-compact-context] gives a prompt the summary and nothing of the data', () => {
    const raw = Array.from({ length: 1_000 }, (_, at) => ({ name: `node ${at}`, description: 'long '.repeat(100) }));
    const result = toToolResult('list_nodes', raw);
    expect(resultToText(result)).toBe('list_nodes returned 1000 item(s).');
    expect(result.data).toBe(raw);
  });

  it.each([
    ['a cycle', cyclic],
    ['a number too big for JSON', () => ({ big: 1n })],
  ])('survives %s', (_, make) => {
    expect(toToolResult('odd', make()).summary).toBe('an answer that cannot be written as JSON');
  });
});

function cyclic(): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  value.self = value;
  return value;
}

describe('a tool that tells its own answer', () => {
  const credentials = Array.from({ length: 30 }, (_, at) => ({ id: `id-${at}`, name: `Key ${at}` }));

  it('[FLR-tool-digest] names the first entries of a list with their ids', () => {
    const digest = (list: typeof credentials) =>
      digestList('credential', list, { name: (each) => each.name, id: (each) => each.id, top: 2 });
    const result = toToolResult('list_credentials', credentials, { digest });
    expect(result.summary).toBe('30 credentials: Key 0 (id-0), Key 1 (id-1), and 28 more.');
    expect(result.ok).toBe(true);
    expect(digest([])).toBe('0 credentials.');
  });

  it('[FLR-tool-digest] is believed about what it is: a credential with an id is no chatflow', () => {
    const result = toToolResult('create_credential', credentials[0], { digest: () => 'Credential stored.' });
    expect(result).toMatchObject({ ok: true, summary: 'Credential stored.', facts: {}, artifacts: null });
    const told = toToolResult('get_chatflow', credentials[0], {
      digest: () => 'A flow.',
      facts: ({ id }: { id: string }) => ({ chatflow_id: id }),
      artifacts: ({ id }: { id: string }) => ({ chatflow_ids: [id] }),
    });
    expect(told).toMatchObject({ facts: { chatflow_id: 'id-0' }, artifacts: { chatflow_ids: ['id-0'] } });
  });

  it('[FLR-tool-digest] is cut at 1,200 characters, or where the caller says', () => {
    const digest = () => 'many words '.repeat(1_000);
    expect(toToolResult('t', {}, { digest }).summary.length).toBe(DIGEST_CHARS);
    expect(toToolResult('t', {}, { digest, maxChars: 50 }).summary.length).toBe(50);
  });

  it('[FLR-tool-digest] does not hide an error, a failed verdict or its own stumbling', () => {
    const digest = () => 'all is well';
    expect(toToolResult('t', { error: 'no' }, { digest }).summary).toBe('t failed: no');
    expect(toToolResult('t', { valid: false, errors: ['no'] }, { digest })).toMatchObject({
      ok: false,
      error: { type: 'ValidationError' },
    });
    const stumbling = () => {
      throw new Error('unexpected');
    };
    expect(toToolResult('t', [1], { digest: stumbling }).summary).toBe('t returned 1 item(s).');
  });
});

describe('[FLR-tool-secrets] no secret is told', () => {
  it.each([
    ['by an error', { error: `refused ${KEY}` }],
    ['by the body of an error', { error: 'HTTP 401', body: `{"message":"bad key ${KEY}"}` }],
    ['by the name of a chatflow', { id: '1', name: KEY }],
    ['by an object', { settings: { apiKey: 'hunter2-plain', other: KEY } }],
    ['by a pair', { headers: [{ key: 'X-Custom-Key', value: 'hunter2-plain' }] }],
    ['by a text', `the key is ${KEY}`],
    ['by a verdict', { valid: false, errors: [`unknown ${KEY}`] }],
    ['where it would be cut in two', { pad: 'y'.repeat(170), key: KEY }],
  ])('%s', (_, raw) => {
    const result = toToolResult('t', raw);
    const told = JSON.stringify([result.summary, result.error, result.facts]);
    expect(told).not.toContain(KEY.slice(0, 20));
    expect(told).not.toContain('hunter2');
  });

  it('by a digest', () => {
    expect(toToolResult('t', {}, { digest: () => `uses ${KEY}` }).summary).toBe('uses [secret]');
  });
});

describe('[FLR-tool-never-throws] running a tool', () => {
  const schema = z.strictObject({ node_type: z.string() });

  it('awaits what answers later and takes what answers at once', async () => {
    const later = await runTool(
      'flowise.get_node',
      async ({ node_type }: { node_type: string }) => ({ id: node_type, name: 'A' }),
      { node_type: 'x' },
      schema,
    );
    expect(later.summary).toBe("Chatflow 'A' (id=x).");
    const now = await runTool('validate_flow_data', () => ({ valid: true, node_count: 0, edge_count: 0 }), {});
    expect(now.summary).toBe('Flow data valid: 0 nodes, 0 edges.');
  });

  it('tells an unknown tool', async () => {
    const result = await runTool('nope', undefined, {});
    expect(result).toMatchObject({ ok: false, error: { type: 'UnknownTool' } });
    expect(result.summary).toBe('nope failed: there is no tool of this name');
  });

  it('judges arguments before the call', async () => {
    let calls = 0;
    const result = await runTool('get_node', () => (calls += 1), { node_typo: 'x' }, schema);
    expect(calls).toBe(0);
    expect(result).toMatchObject({ ok: false, error: { type: 'WrongArguments' } });
    expect(result.summary).toBe('Wrong arguments for get_node: /node_type is missing; /node_typo is not a known key');
  });

  it('does not take a mistake inside the tool for wrong arguments', async () => {
    const result = await runTool('t', () => (undefined as unknown as { x: string }).x, {}, z.strictObject({}));
    expect(result.error?.type).toBe('TypeError');
    expect(result.summary).toMatch(/^t failed: /);
  });

  it('[FLR-tool-error-body] tells the code, and what the other server said', async () => {
    const refused = new FlowrightError('FLOWISE_REFUSED', 'Flowise refused it.', {
      details: { status: 500, message: `Ending nodes not found, key ${KEY}` },
    });
    const result = await runTool('predict', () => Promise.reject(refused), {});
    expect(result.summary).toBe('predict failed: Flowise refused it. Ending nodes not found, key [secret]');
    expect(result.error).toMatchObject({ type: 'FlowrightError', detail: { code: 'FLOWISE_REFUSED', status: 500 } });
  });

  it.each([
    ['a text', 'plain words', 'plain words'],
    ['nothing', undefined, 'undefined'],
    ['what has no text', Object.create(null), 'something that has no text was thrown'],
  ])('survives that %s is thrown', async (_, thrown, message) => {
    const result = await runTool('t', () => Promise.reject(thrown), {});
    expect(result.summary).toBe(`t failed: ${message}`);
  });

  it('tells whoever watches, and does not mind one that fails', async () => {
    const events: ToolEvent[] = [];
    await runTool('say', () => 'x'.repeat(500), {}, undefined, { emit: (event) => events.push(event) });
    expect(events[0]).toEqual({ type: 'tool_call', name: 'say' });
    expect(events[1]).toMatchObject({ type: 'tool_result', name: 'say' });
    expect((events[1] as { preview: string }).preview.length).toBe(200);
    const emit = () => {
      throw new Error('gone');
    };
    expect((await runTool('say', () => 'hi', {}, undefined, { emit })).summary).toBe('hi');
  });
});
