/** Far more than any answer of a model, far less than what would hurt. */
const MAX_ANSWER_BYTES = 4 * 1_048_576;
/** The words of providers for what is wrong. Any other word might be one of the prompt. */
const KNOWN_WORDS = [
  'insufficient_quota',
  'context_length_exceeded',
  'model_not_found',
  'not_found_error',
  'invalid_api_key',
  'authentication_error',
  'permission_error',
  'rate_limit_exceeded',
  'rate_limit_error',
  'overloaded_error',
  'api_error',
  'server_error',
  'request_too_large',
  'invalid_request_error',
];

/** What went wrong between us and a model server, told without anything that either side wrote. */
export type WireFault =
  | { kind: 'network' }
  | { kind: 'status'; status: number; retryAfterMs: number | undefined; word: string | undefined }
  | { kind: 'not_json' }
  | { kind: 'too_large' };

export interface Wire {
  fetch: typeof fetch;
  /** Of the last request; undefined when the server answered with a JSON object. */
  fault: WireFault | undefined;
}

/**
 * A fetch that reads no more than it should and knows how the request failed. The client libraries on top would read
 * any amount, and their errors carry what was sent.
 */
export function createWire(): Wire {
  const wire: Wire = {
    fault: undefined,
    fetch: async (input, init) => {
      wire.fault = { kind: 'network' };
      const response = await fetch(input, { ...init, redirect: 'error' });
      const body = await readBounded(response);
      if (body === undefined) {
        wire.fault = { kind: 'too_large' };
        throw new Error('the answer is too large');
      }
      const json = objectIn(body);
      if (!response.ok) {
        const { status, headers } = response;
        wire.fault = { kind: 'status', status, retryAfterMs: retryAfter(headers), word: wordOf(json) };
      } else if (json === undefined) {
        wire.fault = { kind: 'not_json' };
        throw new Error('the answer is not JSON');
      } else {
        wire.fault = undefined;
      }
      return new Response(json === undefined ? '{}' : body, {
        status: response.status,
        headers: { 'content-type': 'application/json' },
      });
    },
  };
  return wire;
}

async function readBounded(response: Response): Promise<Buffer | undefined> {
  const declared = Number(response.headers.get('content-length') ?? 0);
  if (declared > MAX_ANSWER_BYTES) {
    await response.body?.cancel();
    return undefined;
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  if (!reader) return Buffer.alloc(0);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    bytes += value.length;
    if (bytes > MAX_ANSWER_BYTES) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
}

function objectIn(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function wordOf(json: Record<string, unknown> | undefined): string | undefined {
  const error = json?.error as { code?: unknown; type?: unknown } | null | undefined;
  return KNOWN_WORDS.find((word) => error?.code === word) ?? KNOWN_WORDS.find((word) => error?.type === word);
}

function retryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
