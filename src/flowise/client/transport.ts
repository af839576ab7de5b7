import type { Pool } from 'undici';
import type { ServerAddress } from './address.ts';

export interface Exchange {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the host, with its query. */
  path: string;
  body?: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

export interface Answer {
  status: number;
  contentType: string;
  location: string | null;
  text: string;
}

/** Why there is no answer. */
export interface Failure {
  kind: 'unreachable' | 'broken' | 'timeout' | 'too_large' | 'not_http' | 'closed';
  reason: string;
  /** Whether the server may have received the request, and so have done what it asks for. */
  mayHaveArrived: boolean;
  /** How often it was tried, and how long all of that took, where it was tried again. */
  tries?: number;
  waitedMs?: number;
  /** What the answer was larger than. */
  maxBytes?: number;
}

export type Outcome = { answer: Answer } | { failure: Failure };

export interface Transport {
  exchange(exchange: Exchange): Promise<Outcome>;
  /** Lets what is under way end, for at most so long. */
  close(graceMs?: number): Promise<void>;
}

export interface TransportOptions {
  address: ServerAddress;
  headers: Record<string, string>;
  /** Largest answer; one that is longer is not read on. */
  maxBytes: number;
  connectTimeoutMs: number;
  /** Connections at once; further requests wait for one. */
  connections: number;
}

/** One pool of connections to one server, opened with the first request. */
export function createTransport(options: TransportOptions): Transport {
  let opening: Promise<Pool> | undefined;
  let isClosed = false;
  const open = async (): Promise<Pool> => {
    // Commands that never ask Flowise must not load it. Bundled, it has no exports by name.
    const { default: undici } = await import('undici');
    return new undici.Pool(options.address.origin, {
      connections: options.connections,
      connect: { timeout: options.connectTimeoutMs },
      // One timer a request bounds all of it; these would only cut in earlier.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  };
  return {
    exchange: async (exchange) => {
      if (isClosed) return { failure: { kind: 'closed', reason: 'it is closed already', mayHaveArrived: false } };
      opening ??= open();
      return exchangeOver(await opening, exchange, options);
    },
    close: async (graceMs) => {
      isClosed = true;
      const pool = await opening;
      if (!pool || pool.destroyed) return;
      const ended = pool.closed ? Promise.resolve() : pool.close();
      if (graceMs === undefined) return ended;
      let timer: NodeJS.Timeout | undefined;
      const isLate = new Promise<void>((late) => {
        timer = setTimeout(late, graceMs);
      });
      await Promise.race([ended, isLate]);
      clearTimeout(timer);
      await pool.destroy();
    },
  };
}

async function exchangeOver(pool: Pool, exchange: Exchange, options: TransportOptions): Promise<Outcome> {
  const { method, path, body, timeoutMs, signal } = exchange;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeoutMs);
  const leave = (): void => stop.abort();
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave, { once: true });
  try {
    const response = await pool.request({
      method,
      path: options.address.basePath + path,
      headers: {
        ...options.headers,
        accept: 'application/json, text/plain',
        'accept-encoding': 'identity',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      signal: stop.signal,
      ...(body === undefined ? {} : { body }),
    });
    const text = await readText(response.body, first(response.headers['content-length']), options.maxBytes);
    if (text === null) return { failure: tooLarge(options.maxBytes) };
    return {
      answer: {
        status: response.statusCode,
        contentType: (first(response.headers['content-type']) ?? '').toLowerCase(),
        location: first(response.headers.location) ?? null,
        text,
      },
    };
  } catch (thrown) {
    if (signal?.aborted) return { failure: { kind: 'closed', reason: 'it was called off', mayHaveArrived: true } };
    if (stop.signal.aborted) return { failure: timedOut(timeoutMs) };
    return { failure: failureOf(thrown) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
}

/** Null when there is more than that; the rest is not read and the connection given up. */
async function readText(
  body: AsyncIterable<Uint8Array> & { destroy(): unknown; on(event: 'error', listener: () => void): unknown },
  announced: string | undefined,
  maxBytes: number,
): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = announced === undefined ? 0 : Number(announced);
  if (size <= maxBytes) {
    size = 0;
    for await (const chunk of body) {
      size += chunk.byteLength;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  }
  if (size <= maxBytes) return Buffer.concat(chunks).toString('utf8');
  // Giving it up makes the stream fail once more, with nobody waiting for it.
  body.on('error', () => {});
  body.destroy();
  return null;
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function tooLarge(maxBytes: number): Failure {
  const megabytes = Math.round((maxBytes / 1_048_576) * 10) / 10;
  return { kind: 'too_large', reason: `it sends more than ${megabytes} MB`, mayHaveArrived: true, maxBytes };
}

function timedOut(timeoutMs: number): Failure {
  return { kind: 'timeout', reason: `no whole answer within ${timeoutMs / 1_000} s`, mayHaveArrived: true };
}

/** Reasons by code; the message of an error is not quoted, because it may hold parts of the request. */
const NEVER_SENT: Record<string, string> = {
  ECONNREFUSED: 'the connection is refused',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
  EADDRNOTAVAIL: 'there is no way to the host',
  ETIMEDOUT: 'connecting takes too long',
  UND_ERR_CONNECT_TIMEOUT: 'connecting takes too long',
  EPROTO: 'it does not speak TLS; should the address begin with http:// ?',
};

function failureOf(thrown: unknown): Failure {
  const code = codeOf(thrown);
  const known = NEVER_SENT[code];
  if (known) return { kind: 'unreachable', reason: known, mayHaveArrived: false };
  if (/CERT|SELF_SIGNED|_TLS_|_SSL_|UNABLE_TO_/.test(code)) {
    return { kind: 'unreachable', reason: `its certificate is not accepted (${code})`, mayHaveArrived: false };
  }
  if (code.startsWith('HPE_') || code === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return { kind: 'not_http', reason: 'what it sends is not HTTP', mayHaveArrived: true };
  }
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') {
    return { kind: 'closed', reason: 'it was closed meanwhile', mayHaveArrived: true };
  }
  return { kind: 'broken', reason: `the connection broke off (${code})`, mayHaveArrived: true };
}

function codeOf(thrown: unknown): string {
  const { code, cause, name } = (thrown ?? {}) as { code?: unknown; cause?: unknown; name?: unknown };
  if (typeof code === 'string') return code;
  return cause === undefined ? String(name ?? 'unknown') : codeOf(cause);
}
