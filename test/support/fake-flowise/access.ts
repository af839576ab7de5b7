import { type Answer, json, plain } from './answers.ts';
import type { FlowiseVersion, Route } from './route.ts';

export interface AccessRules {
  version: FlowiseVersion;
  /** Key → what it may do; everything when null. Version 2 knows no permissions. */
  keys: Map<string, readonly string[] | null>;
  /** Version 2 may be started with a user name and a password. */
  basic: { username: string; password: string } | null;
}

/** What stands in the way of a request: null when nothing does. Three kinds of refusal have three shapes. */
export function refuse(
  rules: AccessRules,
  access: Route['access'],
  headers: Record<string, string | string[] | undefined>,
): Answer | null {
  if (access === 'public') return null;
  const authorization = String(headers.authorization ?? '');
  const internal = headers['x-request-from'] === 'internal';
  if (rules.version === '2.2.8' && internal) {
    if (!rules.basic || authorization === basicHeader(rules.basic)) return null;
    return plain('', 401);
  }
  const held = rules.keys.get(keyOf(headers));
  if (held === undefined) return json({ error: 'Unauthorized Access' }, 401);
  if (rules.version === '2.2.8' || access === null || held === null) return null;
  return access.some((permission) => held.includes(permission)) ? null : json({ message: 'Forbidden' }, 403);
}

export function keyOf(headers: Record<string, string | string[] | undefined>): string {
  return /^Bearer (.+)$/.exec(String(headers.authorization ?? ''))?.[1] ?? '';
}

function basicHeader({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
