import type { IncomingHttpHeaders } from 'node:http';

export const SESSION_COOKIE = 'flowright_session';

export type Credentials = { secret: string; purpose: 'bearer' | 'session' } | null;

/** A bearer token when one is sent, else the studio's session cookie. */
export function credentialsFrom(headers: IncomingHttpHeaders): Credentials {
  const { authorization } = headers;
  if (authorization !== undefined) {
    const match = /^Bearer +(\S+)$/i.exec(authorization);
    return match ? { secret: match[1] as string, purpose: 'bearer' } : null;
  }
  const session = cookie(headers.cookie, SESSION_COOKIE);
  return session === undefined ? null : { secret: session, purpose: 'session' };
}

function cookie(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [key, value] = part.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}
