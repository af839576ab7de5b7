import { describe, expect, it } from 'vitest';
import { createWriteGuard } from '../../src/flowise/compiler/guard.ts';
import { sha256Hex } from '../../src/kernel/hash.ts';

describe('the write guard', () => {
  it('lets through exactly the text that was validated [FLR-guard-exact-text]', () => {
    const guard = createWriteGuard();
    expect(guard.authorise('{"nodes":[]}')).toBe(sha256Hex('{"nodes":[]}'));
    expect(() => guard.check('{"nodes":[]}')).not.toThrow();
  });

  it('refuses when nothing or something else was validated, and after it was taken back [FLR-guard-refuses]', () => {
    const guard = createWriteGuard();
    const mismatch = expect.objectContaining({ code: 'payload_mismatch', status: 409 });
    expect(() => guard.check('{}')).toThrow(mismatch);
    guard.authorise('{"nodes":[]}');
    expect(() => guard.check('{"nodes": []}')).toThrow(mismatch);
    guard.revoke();
    expect(() => guard.check('{"nodes":[]}')).toThrow(mismatch);
  });
});
