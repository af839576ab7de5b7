import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Log } from '../../src/kernel/log.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createPinoLog } from '../../src/kernel/pino-log.ts';
import { type CompletionRequest, createLlm, type Llm, LlmError, type LlmSettings } from '../../src/llm/index.ts';
import { SCRIPTED_KEY, type ScriptedAnswer, type ScriptedModel, useScriptedModel } from '../support/scripted-model.ts';

const SECRET = 'the-prompt-nobody-may-read';
const ASK: CompletionRequest = { system: 'Be brief.', messages: [{ role: 'user', content: `Say hi. ${SECRET}` }] };

function llmFor(model: ScriptedModel, more: Partial<LlmSettings> = {}, log: Log = silentLog): Llm {
  return createLlm({ config: { ...model.settings, llm_timeout_seconds: 20, ...more }, environment: {}, log });
}

async function faultOf(answer: Promise<unknown>): Promise<LlmError> {
  const thrown = await answer.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(LlmError);
  return thrown as LlmError;
}

const codeOf = async (answer: Promise<unknown>) => (await faultOf(answer)).code;

describe('[FLR-llm-providers] a call to a model', () => {
  it('goes out in the OpenAI protocol and comes back with its usage', async () => {
    const model = await useScriptedModel([{ text: 'hi', usage: { input_tokens: 12, output_tokens: 3 } }]);
    const completion = await llmFor(model).complete({ ...ASK, budget: { output_tokens: 99 } });
    expect(completion).toEqual({
      text: 'hi',
      tool_calls: [],
      provider: 'openai',
      model: 'scripted-model',
      usage: { input_tokens: 12, output_tokens: 3 },
    });
    const [request] = model.requests;
    expect(request?.path).toBe('/v1/chat/completions');
    expect(request?.headers.authorization).toBe(`Bearer ${SCRIPTED_KEY}`);
    expect(request?.body).toMatchObject({
      model: 'scripted-model',
      max_tokens: 99,
      messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }],
    });
    expect(request?.prompt).toContain(SECRET);
  });

  it('carries tools, their calls and their answers', async () => {
    const model = await useScriptedModel([
      { tool_calls: [{ id: 'c1', name: 'look_up', input: { word: 'x' } }] },
      { tool_calls: [{ id: 'c2', name: 'look_up', input: '{broken' }] },
      { text: 'done' },
    ]);
    const llm = llmFor(model);
    const tools = [{ name: 'look_up', description: 'Looks up', input_schema: { type: 'object', properties: {} } }];
    const first = await llm.complete({ ...ASK, tools });
    expect(first.tool_calls).toEqual([{ id: 'c1', name: 'look_up', input: { word: 'x' } }]);
    expect(model.requests[0]?.body.tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'look_up',
          description: 'Looks up',
          parameters: { type: 'object', properties: {} },
          strict: false,
        },
      },
    ]);
    const broken = await llm.complete({ ...ASK, tools });
    expect(broken.tool_calls).toEqual([{ id: 'c2', name: 'look_up', input: '{broken' }]);
    await llm.complete({
      ...ASK,
      tools,
      messages: [
        ...ASK.messages,
        { role: 'assistant', content: '', tool_calls: first.tool_calls },
        { role: 'tool', content: 'found', tool_call_id: 'c1' },
      ],
    });
    expect(model.requests[2]?.body.messages.slice(2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'look_up', arguments: '{"word":"x"}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
    ]);
  });

  it('holds a server to a schema, and goes on without where the server knows none', async () => {
    const schema = { type: 'object', properties: { a: { type: 'integer' } } };
    const model = await useScriptedModel([{ json: { a: 1 } }, { status: 400 }, { json: { a: 2 } }]);
    const llm = llmFor(model);
    expect((await llm.complete({ ...ASK, schema })).text).toBe('{"a":1}');
    expect(model.requests[0]?.body.response_format).toMatchObject({ type: 'json_schema', json_schema: { schema } });
    expect((await llm.complete({ ...ASK, schema })).text).toBe('{"a":2}');
    expect(model.requests.map(({ body }) => 'response_format' in body)).toEqual([true, true, false]);
  });

  it('shows images and names other files', async () => {
    const model = await useScriptedModel([{ text: 'seen' }]);
    const files = [
      { file_name: 'a.png', content_type: 'image/png', content: Buffer.from('png') },
      { file_name: 'b.bin', content_type: 'application/octet-stream', content: Buffer.from('bin') },
    ];
    await llmFor(model).complete({ ...ASK, messages: [{ role: 'user', content: 'Look', files }] });
    expect(model.requests[0]?.body.messages[1].content).toMatchObject([
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${Buffer.from('png').toString('base64')}` } },
      { type: 'text', text: '(b.bin, application/octet-stream: not shown)' },
    ]);
  });

  it("goes out in Anthropic's protocol too", async () => {
    const model = await useScriptedModel([
      { text: 'hello', usage: { input_tokens: 5, output_tokens: 2 } },
      { tool_calls: [{ id: 't1', name: 'look_up', input: { word: 'x' } }] },
      { status: 529 },
      { text: 'again' },
    ]);
    const llm = llmFor(model, { llm: 'anthropic:claude-scripted', llm_base_url: model.anthropicUrl });
    expect(await llm.complete(ASK)).toEqual({
      text: 'hello',
      tool_calls: [],
      provider: 'anthropic',
      model: 'claude-scripted',
      usage: { input_tokens: 5, output_tokens: 2 },
    });
    expect(model.requests[0]?.path).toBe('/v1/messages');
    expect(model.requests[0]?.headers['x-api-key']).toBe(SCRIPTED_KEY);
    expect(model.requests[0]?.body.max_tokens).toBe(8_192);
    const tools = [{ name: 'look_up', description: 'Looks up', input_schema: { type: 'object', properties: {} } }];
    expect((await llm.complete({ ...ASK, tools })).tool_calls).toEqual([
      { id: 't1', name: 'look_up', input: { word: 'x' } },
    ]);
    expect((await llm.complete(ASK)).text).toBe('again');
  });

  it('goes to the model that the caller names', async () => {
    const model = await useScriptedModel([{ text: 'a' }]);
    const completion = await llmFor(model).complete({ ...ASK, model: 'openai:other' });
    expect(completion.model).toBe('other');
    expect(model.requests[0]?.body.model).toBe('other');
  });
});

describe('[FLR-llm-not-configured] without a model', () => {
  const make = (config: Partial<LlmSettings>, environment: Record<string, string> = {}) =>
    createLlm({
      config: { llm: null, llm_base_url: null, llm_api_key: null, llm_timeout_seconds: 5, ...config },
      environment,
      log: silentLog,
    });

  it.each([
    ['nothing is set', {}, 'FLOWRIGHT_LLM'],
    ['there is no key for OpenAI', { llm: 'openai:gpt-5-mini' }, 'OPENAI_API_KEY'],
    ['there is no key for Anthropic', { llm: 'anthropic:claude' }, 'ANTHROPIC_API_KEY'],
  ])('because %s, a call says what to set', async (_, config, named) => {
    const llm = make(config);
    expect(llm.configured).toBe(false);
    const fault = await faultOf(llm.complete(ASK));
    expect(fault.code).toBe('llm_not_configured');
    expect(fault.message).toContain(named);
  });

  it('is not the case when the environment has the key of the provider, or the server is one’s own', () => {
    expect(make({ llm: 'openai:gpt-5-mini' }, { OPENAI_API_KEY: 'k' }).configured).toBe(true);
    expect(make({ llm: 'anthropic:claude' }, { ANTHROPIC_API_KEY: 'k' }).configured).toBe(true);
    expect(make({ llm: 'openai:llama3', llm_base_url: 'http://127.0.0.1:11434/v1' }).configured).toBe(true);
  });

  it('is the case for a model of another provider without a key: ours is not sent there', async () => {
    const model = await useScriptedModel([]);
    expect(await codeOf(llmFor(model).complete({ ...ASK, model: 'anthropic:claude' }))).toBe('llm_not_configured');
    expect(await codeOf(llmFor(model).complete({ ...ASK, model: 'nobody' }))).toBe('llm_not_configured');
    expect(model.requests).toEqual([]);
  });
});

describe('[FLR-llm-budget] the budget', () => {
  it('refuses a long prompt before it is sent', async () => {
    const model = await useScriptedModel([]);
    const llm = llmFor(model);
    const long = { ...ASK, messages: [{ role: 'user' as const, content: 'word '.repeat(1_000) }] };
    expect(await codeOf(llm.complete({ ...long, budget: { input_tokens: 500 } }))).toBe('llm_budget_exceeded');
    const huge = { ...ASK, messages: [{ role: 'user' as const, content: 'word '.repeat(100_000) }] };
    expect(await codeOf(llm.complete(huge))).toBe('llm_budget_exceeded');
    const schema = { type: 'object', description: 'x'.repeat(400_000) };
    expect(await codeOf(llm.complete({ ...ASK, schema }))).toBe('llm_budget_exceeded');
    expect(model.requests).toEqual([]);
  });

  it('tells an answer that was cut off, declined or too long for the model', async () => {
    const overflow = JSON.stringify({ error: { message: SECRET, code: 'context_length_exceeded' } });
    const model = await useScriptedModel([
      { text: '{"a": ', finish_reason: 'length' },
      { text: 'I cannot', finish_reason: 'content_filter' },
      { status: 400, body: overflow },
    ]);
    const llm = llmFor(model);
    expect(await codeOf(llm.complete(ASK))).toBe('llm_budget_exceeded');
    expect(await codeOf(llm.complete(ASK))).toBe('llm_refused');
    expect(await codeOf(llm.complete(ASK))).toBe('llm_budget_exceeded');
  });
});

describe('[FLR-llm-retries] an error', () => {
  it.each([408, 429, 500, 502, 503, 529])('%i is tried again and may pass', async (status) => {
    const model = await useScriptedModel([{ status }, { text: 'hi' }]);
    expect((await llmFor(model).complete(ASK)).text).toBe('hi');
    expect(model.requests).toHaveLength(2);
  });

  it('that stays is given up after two more tries', async () => {
    const model = await useScriptedModel(() => ({ status: 503 }));
    expect(await codeOf(llmFor(model).complete(ASK))).toBe('llm_unavailable');
    expect(model.requests).toHaveLength(3);
  });

  it.each([
    [400, 'llm_inference_error'],
    [401, 'llm_refused'],
    [403, 'llm_refused'],
    [404, 'llm_refused'],
    [422, 'llm_inference_error'],
  ])('%i is not tried again: %s', async (status, code) => {
    const model = await useScriptedModel(() => ({ status }));
    expect(await codeOf(llmFor(model).complete(ASK))).toBe(code);
    expect(model.requests).toHaveLength(1);
  });

  it('of an empty account is not tried again', async () => {
    const body = JSON.stringify({ error: { code: 'insufficient_quota', message: 'billing' } });
    const model = await useScriptedModel(() => ({ status: 429, body }));
    expect(await codeOf(llmFor(model).complete(ASK))).toBe('llm_refused');
    expect(model.requests).toHaveLength(1);
  });

  it('with Retry-After waits as long as asked, unless that is longer than the call may take', async () => {
    const patient = await useScriptedModel([{ status: 429, headers: { 'retry-after': '1' } }, { text: 'hi' }]);
    const began = performance.now();
    expect((await llmFor(patient).complete(ASK)).text).toBe('hi');
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
    const rude = await useScriptedModel([{ status: 429, headers: { 'retry-after': '3600' } }]);
    const asked = performance.now();
    expect(await codeOf(llmFor(rude).complete(ASK))).toBe('llm_unavailable');
    expect(performance.now() - asked).toBeLessThan(3_000);
  });

  it('of the network is tried again', async () => {
    const model = await useScriptedModel([{ cut: true }, { text: 'hi' }]);
    expect((await llmFor(model).complete(ASK)).text).toBe('hi');
    const gone = { llm_base_url: 'http://127.0.0.1:9/v1' };
    expect(await codeOf(llmFor(model, gone).complete(ASK))).toBe('llm_unavailable');
  });
});

describe('[FLR-llm-bounded] a server that', () => {
  it.each<[string, ScriptedAnswer]>([
    ['never answers', { hang: true }],
    ['falls silent half-way', { stall: true }],
    ['is too slow', { text: 'late', delay_ms: 10_000 }],
  ])('%s costs no more than the time it has', async (_, answer) => {
    const model = await useScriptedModel([answer]);
    const began = performance.now();
    expect(await codeOf(llmFor(model).complete({ ...ASK, budget: { timeout_ms: 400 } }))).toBe('llm_timeout');
    expect(performance.now() - began).toBeLessThan(3_000);
    await expect.poll(() => model.open.now, { message: 'the connection is let go' }).toBe(0);
  });

  it('goes beyond the setting is stopped by the setting', async () => {
    const model = await useScriptedModel([{ hang: true }]);
    const llm = llmFor(model, { llm_timeout_seconds: 1 });
    expect(await codeOf(llm.complete({ ...ASK, budget: { timeout_ms: 60_000 } }))).toBe('llm_timeout');
  });

  it.each<[string, ScriptedAnswer]>([
    ['answers with a web page', { raw: '<html><body>Sign in</body></html>', content_type: 'text/html' }],
    ['answers with half of JSON', { raw: '{"choices": [' }],
    ['answers with an array', { raw: '[]' }],
    ['answers without choices', { raw: '{}' }],
    ['answers with empty choices', { raw: '{"choices": []}' }],
    ['answers with choices of another kind', { raw: '{"choices": 7}' }],
    ['answers with a choice that is null', { raw: '{"choices": [null]}' }],
    ['answers without a message', { raw: '{"choices": [{}]}' }],
    [
      'answers with content that is no text',
      { raw: '{"choices": [{"message": {"role": "assistant", "content": 7}}]}' },
    ],
    ['answers with an empty text', { text: '' }],
    ['answers with a redirect', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }],
  ])('%s is an error with a code', async (_, answer) => {
    const model = await useScriptedModel(() => answer);
    expect(await codeOf(llmFor(model).complete(ASK))).toMatch(/^llm_(inference_error|unavailable)$/);
  });

  it('answers with 100 MB is not read to the end', async () => {
    const model = await useScriptedModel([{ flood_bytes: 100 * 1_048_576 }]);
    const before = process.memoryUsage().rss;
    expect(await codeOf(llmFor(model).complete(ASK))).toBe('llm_inference_error');
    expect(process.memoryUsage().rss - before).toBeLessThan(80 * 1_048_576);
    expect(model.requests).toHaveLength(1);
  });
});

describe('[FLR-llm-cancel] a call', () => {
  it('ends with its signal, and says whether time or somebody ended it', async () => {
    const model = await useScriptedModel(() => ({ hang: true }));
    const llm = llmFor(model);
    const controller = new AbortController();
    const call = codeOf(llm.complete({ ...ASK, signal: controller.signal }));
    await expect.poll(() => model.requests.length).toBe(1);
    controller.abort();
    expect(await call).toBe('llm_canceled');
    expect(await codeOf(llm.complete({ ...ASK, signal: AbortSignal.abort() }))).toBe('llm_canceled');
    expect(await codeOf(llm.complete({ ...ASK, signal: AbortSignal.timeout(200) }))).toBe('llm_timeout');
  });

  it('[FLR-llm-slots] waits in line behind sixteen others, and may leave the line', async () => {
    const model = await useScriptedModel(() => ({ text: 'hi', delay_ms: 150 }));
    const llm = llmFor(model);
    const calls = Array.from({ length: 40 }, () => llm.complete(ASK));
    const controller = new AbortController();
    const leaver = codeOf(llm.complete({ ...ASK, signal: controller.signal }));
    controller.abort();
    expect(await leaver).toBe('llm_canceled');
    await Promise.all(calls);
    expect(model.open.most).toBe(16);
    expect(model.requests).toHaveLength(40);
  });
});

describe('[FLR-llm-redaction] what is written down', () => {
  const ANSWER = 'the-answer-nobody-may-read';

  it('is provider, model, tokens and duration, whatever happens', async () => {
    const echo = JSON.stringify({ error: { message: `${SECRET} ${SCRIPTED_KEY}`, code: SECRET, type: SCRIPTED_KEY } });
    const model = await useScriptedModel([
      { text: ANSWER },
      { status: 401, body: echo },
      { status: 400, body: echo },
      { raw: `<p>${SECRET} ${SCRIPTED_KEY}</p>` },
      { raw: JSON.stringify({ choices: [{ message: { content: { secret: SECRET } } }] }) },
      { hang: true },
    ]);
    const lines: unknown[] = [];
    const write = (...line: unknown[]) => void lines.push(line);
    const llm = llmFor(model, {}, { info: write, warn: write, error: write });
    await llm.complete(ASK);
    const faults: LlmError[] = [];
    for (let at = 0; at < 5; at += 1) {
      faults.push(await faultOf(llm.complete({ ...ASK, budget: { timeout_ms: 1_500 } })));
    }
    expect(lines[0]).toEqual([
      {
        provider: 'openai',
        model: 'scripted-model',
        usage: { input: 100, output: expect.any(Number) },
        duration_ms: expect.any(Number),
      },
      'a model answered',
    ]);
    expect(lines).toHaveLength(6);
    const told = JSON.stringify(lines) + faults.map((fault) => `${fault.stack} ${JSON.stringify(fault)}`).join('\n');
    for (const secret of [SECRET, SCRIPTED_KEY, ANSWER]) expect(told).not.toContain(secret);
    for (const fault of faults) expect(fault.cause).toBeUndefined();
  });

  it('is readable in the log of the hub', async () => {
    const model = await useScriptedModel([{ text: 'hi', usage: { input_tokens: 12, output_tokens: 3 } }]);
    const stream = new PassThrough();
    await llmFor(model, {}, createPinoLog('info', stream)).complete(ASK);
    expect(JSON.parse(String(stream.read()))).toMatchObject({
      provider: 'openai',
      model: 'scripted-model',
      usage: { input: 12, output: 3 },
      msg: 'a model answered',
    });
  });

  it('is nothing more when LangChain is told to be verbose', async () => {
    const model = await useScriptedModel([{ text: ANSWER }]);
    const before = process.env.LANGCHAIN_VERBOSE;
    const { log } = console;
    const printed: unknown[] = [];
    process.env.LANGCHAIN_VERBOSE = 'true';
    console.log = (...texts: unknown[]) => void printed.push(texts);
    try {
      await llmFor(model).complete(ASK);
    } finally {
      console.log = log;
      if (before === undefined) delete process.env.LANGCHAIN_VERBOSE;
      else process.env.LANGCHAIN_VERBOSE = before;
    }
    expect(printed).toEqual([]);
  });
});
