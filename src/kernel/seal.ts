import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const FORMAT = 'fs1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export const SEAL_KEY_BYTES = 32;

/** Encrypts and authenticates: what is changed by a single bit does not open. The purpose is part of the seal. */
export function seal(key: Uint8Array, purpose: string, content: Uint8Array): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  cipher.setAAD(Buffer.from(purpose, 'utf8'));
  const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
  return `${FORMAT}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')}`;
}

/** Null when the key is another one, the purpose differs, or the text was changed. */
export function unseal(key: Uint8Array, purpose: string, sealed: string): Buffer | null {
  if (!sealed.startsWith(`${FORMAT}.`)) return null;
  const bytes = Buffer.from(sealed.slice(FORMAT.length + 1), 'base64');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES));
  decipher.setAAD(Buffer.from(purpose, 'utf8'));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}
