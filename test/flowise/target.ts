/** A server that cases are run against, real or not. */
export interface Target {
  url: string;
  apiKey: string;
  /** Where the models of its flows are reached; a fake server needs none and answers by itself. */
  modelUrl: string;
  /** A key with only these permissions. */
  keyWith(permissions: readonly string[]): Promise<string>;
}

export interface Raw {
  status: number;
  type: string;
  text: string;
  /** Undefined where the body is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape; cases look into them
  json: any;
}

export type Send = (
  method: string,
  path: string,
  body?: unknown,
  options?: { key?: string | null; prefix?: string; raw?: string },
) => Promise<Raw>;

const ANSWER_MS = 60_000;

export function sender(target: Pick<Target, 'url' | 'apiKey'>): Send {
  return async (method, path, body, { key = target.apiKey, prefix = '/api/v1', raw } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${target.url}${prefix}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(payload === undefined ? {} : { body: payload }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const text = await response.text();
    const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
    return { status: response.status, type, text, json: parsed(text) };
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
