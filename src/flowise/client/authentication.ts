/**
 * How a server is asked. Flowise 3 takes API keys with permissions; Flowise 2 takes API keys, a name with a password,
 * or, where none is set, nothing. Everything but a key must also say that it comes from within.
 */
export type FlowiseAuth =
  | { kind: 'none' }
  | { kind: 'key'; key: string }
  | { kind: 'basic'; username: string; password: string };

const FROM_WITHIN = { 'x-request-from': 'internal' };

/** What a header can carry: visible ASCII characters. */
export const API_KEY_RE = /^[\x21-\x7e]{1,1024}$/;

export function authHeaders(auth: FlowiseAuth): Record<string, string> {
  switch (auth.kind) {
    case 'none':
      return FROM_WITHIN;
    case 'key':
      return { authorization: `Bearer ${auth.key}` };
    case 'basic':
      return { authorization: `Basic ${basicWord(auth)}`, ...FROM_WITHIN };
  }
}

/** Every text that must not come back out of an error. */
export function secretsOf(auth: FlowiseAuth): string[] {
  switch (auth.kind) {
    case 'none':
      return [];
    case 'key':
      return [auth.key];
    case 'basic':
      return auth.password === '' ? [] : [auth.password, basicWord(auth)];
  }
}

function basicWord({ username, password }: { username: string; password: string }): string {
  return Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
}
