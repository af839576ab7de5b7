import { randomBytes, randomUUID } from 'node:crypto';

/** Words a client may choose: vault and user ids. Safe as a file name, a header and an object key. */
export const VAULT_ID_RE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const USER_ID_RE = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;
/** A client's own request or correlation id is honoured when it looks like this. */
export const REQUEST_ID_RE = /^[A-Za-z0-9._:-]{1,128}$/;

export function newRequestId(): string {
  return randomUUID();
}

export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(8).toString('hex')}`;
}

/** A bearer secret: a readable prefix and 256 random bits. */
export function newSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}
