import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What the server does with one request. */
export type ScriptedAnswer = { delay_ms?: number; usage?: { input_tokens: number; output_tokens: number } } & (
  | { text: string }
  /** The text is this value as JSON. */
  | { json: unknown }
  | { tool_calls: readonly { id?: string; name: string; input: unknown }[]; text?: string }
  /** The protocol's words for an answer that the model declined to give, or that was cut off at its limit. */
  | { text: string; finish_reason: 'length' | 'content_filter' }
  | { status: number; body?: string; headers?: Record<string, string> }
  /** A success that is not of the protocol: any text. */
  | { raw: string; content_type?: string }
  /** A success that goes on for so many bytes. */
  | { flood_bytes: number }
  /** Takes the request and never answers. */
  | { hang: true }
  /** Begins to answer, then falls silent. */
  | { stall: true }
  /** Ends the connection without an answer. */
  | { cut: true }
);

export interface ScriptedRequest {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  /** As it was sent: model, messages, tools, response_format, max_tokens … */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever the client sent
  body: any;
  /** Every text of every message, one after the other: what the model was shown. */
  prompt: string;
}

export type Script = readonly ScriptedAnswer[] | ((request: ScriptedRequest, index: number) => ScriptedAnswer);

/** A model server that says what the test wants, over real HTTP. */
export interface ScriptedModel {
  /** Base URL for clients that speak the OpenAI protocol. */
  url: string;
  /** Base URL for those that speak Anthropic's. */
  anthropicUrl: string;
  /** What a program needs in its environment to use it. */
  env: Record<string, string>;
  /** Settings of the same, for createLlm. */
  settings: { llm: string; llm_base_url: string; llm_api_key: string };
  requests: ScriptedRequest[];
  /** Requests that are being answered right now, and the most there ever were at once. */
  open: { now: number; most: number };
  /** Adds answers to a script that is a list. */
  say(...answers: ScriptedAnswer[]): void;
  close(): Promise<void>;
}

export const SCRIPTED_KEY = 'sk-scripted-0123456789abcdef';
const MODEL = 'scripted-model';

/** Answers are given in the order of the list; beyond its end every request is refused with 400. */
export async function startScriptedModel(script: Script = []): Promise<ScriptedModel> {
  const queue = typeof script === 'function' ? [] : [...script];
  const requests: ScriptedRequest[] = [];
  const open = { now: 0, most: 0 };
  const server = createServer((incoming, response) => {
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    response.once('close', () => {
      open.now -= 1;
    });
    void readRequest(incoming).then((request) => {
      requests.push(request);
      const answer = typeof script === 'function' ? script(request, requests.length - 1) : queue.shift();
      const end = { status: 400, body: JSON.stringify({ error: { message: 'the script has no further answer' } }) };
      respond(response, request, answer ?? end);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = { llm: `openai:${MODEL}`, llm_base_url: `${origin}/v1`, llm_api_key: SCRIPTED_KEY };
  return {
    url: settings.llm_base_url,
    anthropicUrl: origin,
    env: {
      FLOWRIGHT_LLM: settings.llm,
      FLOWRIGHT_LLM_BASE_URL: settings.llm_base_url,
      FLOWRIGHT_LLM_API_KEY: SCRIPTED_KEY,
    },
    settings,
    requests,
    open,
    say: (...answers) => void queue.push(...answers),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The same, closed when the test ends. */
export async function useScriptedModel(script: Script = []): Promise<ScriptedModel> {
  const model = await startScriptedModel(script);
  onTestFinished(() => model.close());
  return model;
}

async function readRequest(incoming: IncomingMessage): Promise<ScriptedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
  return { path: incoming.url ?? '', headers: incoming.headers, body, prompt: textsOf(body) };
}

// biome-ignore lint/suspicious/noExplicitAny: the body of either protocol
function textsOf(body: any): string {
  const text = (content: unknown): string[] => {
    if (typeof content === 'string') return [content];
    if (!Array.isArray(content)) return [];
    return content.flatMap((part) => (typeof part?.text === 'string' ? [part.text] : []));
  };
  const messages = Array.isArray(body?.messages) ? (body.messages as { content: unknown }[]) : [];
  return [...text(body?.system), ...messages.flatMap(({ content }) => text(content))].join('\n\n');
}

function respond(response: ServerResponse, request: ScriptedRequest, answer: ScriptedAnswer): void {
  const { delay_ms } = answer;
  if (delay_ms) {
    const timer = setTimeout(() => respond(response, request, { ...answer, delay_ms: 0 }), delay_ms);
    response.once('close', () => clearTimeout(timer));
    return;
  }
  if ('hang' in answer) return;
  if ('cut' in answer) return void response.destroy();
  if ('stall' in answer) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"id": "scripted", ');
    return;
  }
  if ('flood_bytes' in answer) {
    flood(response, answer.flood_bytes);
    return;
  }
  if ('status' in answer) {
    const headers = { 'content-type': 'application/json', ...answer.headers };
    const body = answer.body ?? JSON.stringify({ error: { message: `scripted ${answer.status}`, type: 'scripted' } });
    response.writeHead(answer.status, headers).end(body);
    return;
  }
  if ('raw' in answer) {
    response.writeHead(200, { 'content-type': answer.content_type ?? 'application/json' }).end(answer.raw);
    return;
  }
  const payload = request.path.endsWith('/messages')
    ? anthropicPayload(request, answer)
    : openaiPayload(request, answer);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(payload));
}

function flood(response: ServerResponse, bytes: number): void {
  const chunk = Buffer.alloc(65_536, 'x');
  let left = bytes;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"choices":[{"message":{"role":"assistant","content":"');
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= chunk.length;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end('"}}]}');
  };
  more();
}

type Said = Extract<ScriptedAnswer, { text: string } | { json: unknown } | { tool_calls: unknown }>;

function saidText(answer: Said): string {
  return 'json' in answer ? JSON.stringify(answer.json) : (answer.text ?? '');
}

function usageOf(answer: Said, text: string): { input_tokens: number; output_tokens: number } {
  return answer.usage ?? { input_tokens: 100, output_tokens: Math.max(1, Math.ceil(text.length / 4)) };
}

function openaiPayload(request: ScriptedRequest, answer: Said): unknown {
  const text = saidText(answer);
  const { input_tokens, output_tokens } = usageOf(answer, text);
  const calls = 'tool_calls' in answer ? answer.tool_calls : [];
  const finish = 'finish_reason' in answer ? answer.finish_reason : calls.length > 0 ? 'tool_calls' : 'stop';
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: request.body?.model ?? MODEL,
    choices: [
      {
        index: 0,
        finish_reason: finish,
        message: {
          role: 'assistant',
          content: text === '' ? null : text,
          ...(calls.length > 0
            ? {
                tool_calls: calls.map(({ id, name, input }, at) => ({
                  id: id ?? `call_${at + 1}`,
                  type: 'function',
                  function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
                })),
              }
            : {}),
        },
      },
    ],
    usage: {
      prompt_tokens: input_tokens,
      completion_tokens: output_tokens,
      total_tokens: input_tokens + output_tokens,
    },
  };
}

function anthropicPayload(request: ScriptedRequest, answer: Said): unknown {
  const text = saidText(answer);
  const calls = 'tool_calls' in answer ? answer.tool_calls : [];
  return {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model: request.body?.model ?? MODEL,
    content: [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map(({ id, name, input }, at) => ({ type: 'tool_use', id: id ?? `toolu_${at + 1}`, name, input })),
    ],
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: usageOf(answer, text),
  };
}
