import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareSemver, parseSemver, SEMVER_RE } from '../../src/kernel/semver.ts';

const part = fc.oneof(fc.bigInt({ min: 0n, max: 20n }), fc.bigInt({ min: 0n, max: 10n ** 40n }));
const parts = fc.tuple(part, part, part);

describe('versions', () => {
  it.each(['0.0.0', '0.1.0', '1.2.3', '10.20.30', '99999999999999999999.0.1'])('[S002-1.3-ids] %s is one', (text) => {
    expect(SEMVER_RE.test(text)).toBe(true);
    expect(parseSemver(text)).toEqual(text.split('.'));
  });

  it.each([
    '',
    '1',
    '1.2',
    '1.2.3.4',
    '01.2.3',
    '1.02.3',
    '1.2.03',
    '00.0.0',
    'v1.2.3',
    '1.2.3-rc.1',
    '1.2.3+build',
    '-1.2.3',
    '1.-2.3',
    '1.2.x',
    '1..3',
    ' 1.2.3',
    '1.2.3 ',
    '1.2.3\n',
    '1.2.3\n4.5.6',
    '１.2.3',
    '1e1.0.0',
  ])('[S002-1.3-ids] %j is none', (text) => {
    expect(SEMVER_RE.test(text)).toBe(false);
    expect(parseSemver(text)).toBeNull();
  });
});

describe('comparing versions', () => {
  it.each([
    ['1.9.0', '1.10.0'],
    ['0.9.9', '1.0.0'],
    ['1.0.9', '1.0.10'],
    ['2.0.0', '10.0.0'],
    ['1.2.3', '1.3.0'],
    ['9007199254740992.0.0', '9007199254740993.0.0'],
    ['1.0.99999999999999999999998', '1.0.99999999999999999999999'],
    ['9.0.0', '100000000000000000000000000000.0.0'],
  ])('%s comes before %s', (lower, higher) => {
    expect(compareSemver(lower, higher)).toBeLessThan(0);
    expect(compareSemver(higher, lower)).toBeGreaterThan(0);
    expect(compareSemver(lower, lower)).toBe(0);
  });

  it('puts what is no version before every version', () => {
    expect(compareSemver('latest', '0.0.0')).toBeLessThan(0);
    expect(compareSemver('0.0.0', '01.0.0')).toBeGreaterThan(0);
    expect(compareSemver('latest', 'newest')).toBe(0);
  });

  // The order of two versions is the order of their numbers, left to right, however large.
  it('orders like the numbers do', () => {
    fc.assert(
      fc.property(parts, parts, (left, right) => {
        const expected = left
          .map((number, at) => Number(number > right[at]!) - Number(number < right[at]!))
          .find(Boolean);
        expect(Math.sign(compareSemver(left.join('.'), right.join('.')))).toBe(expected ?? 0);
      }),
    );
  });
});
