import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { refusal } from '../kernel/errors.ts';
import { seal, unseal } from '../kernel/seal.ts';

/** A flow can hold secrets that somebody typed into a node: it is stored sealed, and small. */
export function sealText(key: Uint8Array, purpose: string, text: string): string {
  return seal(key, purpose, deflateRawSync(Buffer.from(text, 'utf8')));
}

export function openText(key: Uint8Array, purpose: string, sealed: string): string {
  const content = unseal(key, purpose, sealed);
  if (content) return inflateRawSync(content).toString('utf8');
  throw refusal(
    'SEALED_ELSEWHERE',
    'This was sealed with another sealing.key, or changed since. Put back the key that the data was written with.',
  );
}

export function isOpenable(key: Uint8Array, purpose: string, sealed: string): boolean {
  return unseal(key, purpose, sealed) !== null;
}
