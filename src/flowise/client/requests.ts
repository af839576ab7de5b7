import type { Log } from '../../kernel/log.ts';
import type { ServerAddress } from './address.ts';
import { authHeaders, type FlowiseAuth, secretsOf } from './authentication.ts';
import { type Asked, answerRefusal, badAnswer, failureRefusal, notAnApi } from './refusals.ts';
import { exchangeWithRetries } from './retry.ts';
import { isHtml, isJson, parsedJson } from './server-words.ts';
import { type Answer, createTransport, type Exchange, type Outcome } from './transport.ts';

const API = '/api/v1';
const MAX_CONNECT_MS = 10_000;
const CONNECTIONS = 8;

export interface RequestsOptions {
  server: string;
  address: ServerAddress;
  auth: FlowiseAuth;
  timeoutMs: number;
  maxBytes: number;
  retryDelayMs: number;
  log?: Log | undefined;
  onRequest?: ((request: RequestNote) => void) | undefined;
}

/** One request that was made; nothing in it is secret. */
export interface RequestNote {
  method: string;
  path: string;
  /** Null when no answer came. */
  status: number | null;
  ms: number;
}

export interface Request {
  method: Exchange['method'];
  /** Below /api/v1. */
  route: string;
  query?: Record<string, string>;
  body?: unknown;
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
  chatflowType?: string | undefined;
  /** An answer that means: there is no such thing. */
  isMissing?(answer: Answer): boolean;
}

export interface Requests {
  /** The parsed answer; undefined when `isMissing` says so. */
  json(request: Request): Promise<unknown>;
  text(request: Request): Promise<string>;
  asked(request: Pick<Request, 'method' | 'route' | 'chatflowType'>): Asked;
  close(graceMs?: number): Promise<void>;
}

/** Requests to one server, answered or refused in bounded time, with what the server said about it. */
export function createRequests(options: RequestsOptions): Requests {
  const { server, address, auth, timeoutMs, log } = options;
  const secrets = secretsOf(auth);
  const transport = createTransport({
    address,
    headers: authHeaders(auth),
    maxBytes: options.maxBytes,
    connectTimeoutMs: Math.min(timeoutMs, MAX_CONNECT_MS),
    connections: CONNECTIONS,
  });
  const asked: Requests['asked'] = ({ method, route, chatflowType }) => {
    return { server, url: address.url, auth: auth.kind, secrets, method, route, chatflowType };
  };
  const send = async (exchange: Exchange): Promise<Outcome> => {
    const start = performance.now();
    const outcome = await transport.exchange(exchange);
    options.onRequest?.({
      method: exchange.method,
      path: exchange.path,
      status: 'answer' in outcome ? outcome.answer.status : null,
      ms: performance.now() - start,
    });
    return outcome;
  };
  const answerTo = async (request: Request): Promise<Answer> => {
    const { method, route, query, body, signal } = request;
    const exchange: Exchange = {
      method,
      path: API + route + (query ? `?${new URLSearchParams(query)}` : ''),
      timeoutMs: request.timeoutMs ?? timeoutMs,
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const outcome = await exchangeWithRetries(exchange, send, {
      delayMs: options.retryDelayMs,
      onRetry: (tries) => log?.info({ server, method, route, tries }, 'a Flowise server is asked again'),
    });
    if ('failure' in outcome) throw failureRefusal(asked(request), outcome.failure);
    return outcome.answer;
  };
  return {
    asked,
    json: async (request) => {
      const answer = await answerTo(request);
      const { status, contentType, text } = answer;
      if (status < 200 || status >= 300) {
        if (request.isMissing?.(answer)) return undefined;
        throw answerRefusal(asked(request), answer);
      }
      if (isHtml(contentType, text)) throw notAnApi(asked(request), answer);
      const parsed = isJson(contentType) ? parsedJson(text) : undefined;
      if (parsed === undefined) throw badAnswer(asked(request), status, 'JSON is due');
      return parsed;
    },
    text: async (request) => {
      const answer = await answerTo(request);
      const { status, contentType, text } = answer;
      if (status < 200 || status >= 300) throw answerRefusal(asked(request), answer);
      if (isHtml(contentType, text)) throw notAnApi(asked(request), answer);
      return text;
    },
    close: (graceMs) => transport.close(graceMs),
  };
}
