import { describe, expect, it } from 'vitest';
import { newId, newRequestId, newSecret, REQUEST_ID_RE, USER_ID_RE, VAULT_ID_RE } from '../../src/kernel/ids.ts';

describe('ids that people choose', () => {
  it.each(['default', 'a', '9', 'Team-A_2', 'a'.repeat(64)])('%j can name a vault', (id) => {
    expect(VAULT_ID_RE.test(id)).toBe(true);
  });

  it.each(['', '_a', '-a', '__proto__', 'a b', 'a/b', '..', 'a.b', 'é', 'a\n', 'a'.repeat(65)])(
    '%j cannot name a vault',
    (id) => {
      expect(VAULT_ID_RE.test(id)).toBe(false);
    },
  );

  it.each(['local', 'github:123', 'a@b.example', 'a'.repeat(128)])('%j can name a user', (id) => {
    expect(USER_ID_RE.test(id)).toBe(true);
  });

  it.each(['', ':a', '.a', '__proto__', 'a b', 'a/b', 'a\n', 'a|b', 'a'.repeat(129)])('%j cannot name a user', (id) => {
    expect(USER_ID_RE.test(id)).toBe(false);
  });

  it.each(['', 'a b', 'a\r\nset-cookie: x', 'é', 'a'.repeat(129)])('%j cannot be a request id', (id) => {
    expect(REQUEST_ID_RE.test(id)).toBe(false);
  });
});

describe('ids that we make', () => {
  const many = <T>(make: () => T): Set<T> => new Set(Array.from({ length: 1_000 }, make));

  it('are a prefix and 16 hex digits', () => {
    expect(newId('tok')).toMatch(/^tok_[0-9a-f]{16}$/);
    expect(many(() => newId('tok')).size).toBe(1_000);
  });

  it('pass as request ids', () => {
    expect(newRequestId()).toMatch(REQUEST_ID_RE);
    expect(many(newRequestId).size).toBe(1_000);
  });

  it('carry 256 random bits where they are secrets', () => {
    const secret = newSecret('flw');
    expect(secret).toMatch(/^flw_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(secret.slice('flw_'.length), 'base64url')).toHaveLength(32);
    expect(many(() => newSecret('flw')).size).toBe(1_000);
  });
});
