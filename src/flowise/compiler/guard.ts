import { refusal } from '../../kernel/errors.ts';
import type { Compilation } from './compilation.ts';
import { payloadHash } from './payload-hash.ts';

/**
 * The write guard: what is about to be sent is the very flow, with the very tools, whose hash was approved. The hash
 * and what it is of travel apart from approval to write, so that a change of either shows here.
 */
export function guardWrite(text: string, tools: Compilation['tools'], approvedHash: string): void {
  const payload_hash = payloadHash(text, tools);
  if (payload_hash === approvedHash) return;
  throw refusal('payload_mismatch', 'What was to be written is not what was approved. Nothing was written.', {
    approved_hash: approvedHash,
    payload_hash,
  });
}
