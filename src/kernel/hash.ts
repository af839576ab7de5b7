import { hash } from 'node:crypto';

const TWO_32 = 0x1_0000_0000;
const OFFSET_HIGH = 0xcbf29ce4;
const OFFSET_LOW = 0x84222325;
/** The FNV-64 prime is 2^40 + 0x1b3; multiplying by 2^40 moves the low half eight bits into the high half. */
const PRIME_LOW = 0x1b3;

/** FNV-1a over bytes, 64 bits, as 16 hex digits. A change detector, not a defence: collisions are easy to make. */
export function fnv1a64Hex(input: string | Uint8Array): string {
  const bytes = typeof input === 'string' ? Buffer.from(input, 'utf8') : input;
  let high = OFFSET_HIGH;
  let low = OFFSET_LOW;
  for (const byte of bytes) {
    const mixed = (low ^ byte) >>> 0;
    const product = mixed * PRIME_LOW;
    low = product >>> 0;
    const carry = (product - low) / TWO_32;
    high = (high * PRIME_LOW + carry + ((mixed << 8) >>> 0)) % TWO_32;
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}

export function sha256Hex(input: string | Uint8Array): string {
  return hash('sha256', input, 'hex');
}
