import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stableStringify } from '../../src/kernel/canonical-json.ts';
import { fnv1a64Hex, sha256Hex } from '../../src/kernel/hash.ts';

describe('[FLR-state-id-vectors] FNV-1a, 64 bits', () => {
  it.each([
    ['nothing', '', 'cbf29ce484222325'],
    ['one zero byte', new Uint8Array([0]), 'af63bd4c8601b7df'],
    ['"a"', 'a', 'af63dc4c8601ec8c'],
    ['"foobar"', 'foobar', '85944171f73967e8'],
    ['"é", two bytes', 'é', '0ac21707b7181e01'],
    ['"😀", four bytes', '😀', 'feff073875020288'],
  ])('of %s', (_, input, expected) => {
    expect(fnv1a64Hex(input)).toBe(expected);
  });

  it('keeps leading zeros', () => {
    expect(fnv1a64Hex('é')).toMatch(/^0[0-9a-f]{15}$/);
  });

  it('hashes text as its UTF-8 bytes', () => {
    expect(fnv1a64Hex('é😀')).toBe(fnv1a64Hex(new Uint8Array([0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80])));
  });

  // The arithmetic in two 32-bit halves is the definition, modulo 2^64.
  it('equals the definition in big integers for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(fnv1a64Hex(bytes)).toBe(fnvByDefinition(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('equals the definition on a long input', () => {
    const bytes = Uint8Array.from({ length: 20_000 }, (_, at) => (at * 31) % 256);
    expect(fnv1a64Hex(bytes)).toBe(fnvByDefinition(bytes));
  });
});

describe('[FLR-state-id-vectors] note ids from the same primitives', () => {
  const noteId = (frontmatter: string, body: string) => `kn1_${fnv1a64Hex(`${frontmatter}\0${body}`)}`;

  it.each([
    [{}, '', 'kn1_c735a31983dc6cdf'],
    [{ title: 'Hi' }, 'body', 'kn1_c68c252604a8f39a'],
    [{ tags: ['b', 'a'], nested: { y: 2, x: 1 } }, 'Line 1\nLine 2', 'kn1_13d3a3801b213db3'],
    [{ b: 1, a: 2 }, 'x', 'kn1_5b5c5a16bb025fd3'],
  ])('of %j with body %j', (frontmatter, body, expected) => {
    expect(noteId(stableStringify(frontmatter), body)).toBe(expected);
  });

  it.each([
    ['{"b":1,"a":2}', 'x', 'kn1_7281458b1468a663'],
    ['{"t":1}', 'b', 'kn1_2bb2815a1a2c50dc'],
  ])('of the raw text %s with body %j', (raw, body, expected) => {
    expect(noteId(raw, body)).toBe(expected);
  });

  it('of a note that is not there', () => {
    expect(`kn1_${fnv1a64Hex(new Uint8Array([0]))}`).toBe('kn1_af63bd4c8601b7df');
  });
});

describe('SHA-256', () => {
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ])('of %j', (input, expected) => {
    expect(sha256Hex(input)).toBe(expected);
    expect(sha256Hex(new TextEncoder().encode(input))).toBe(expected);
  });
});

function fnvByDefinition(bytes: Uint8Array): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffff_ffff_ffff_ffffn;
  return hash.toString(16).padStart(16, '0');
}
