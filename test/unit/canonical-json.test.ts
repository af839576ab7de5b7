import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stableStringify } from '../../src/kernel/canonical-json.ts';

describe('canonical JSON', () => {
  it.each([
    ['null', null, 'null'],
    ['undefined', undefined, 'null'],
    ['an undefined member, which is kept', { a: undefined }, '{"a":null}'],
    ['an undefined item', [undefined, 1], '[null,1]'],
    ['not a number', Number.NaN, 'null'],
    ['infinity', [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY], '[null,null]'],
    ['negative zero', -0, '0'],
    ['a trailing zero', 1.5, '1.5'],
    ['a large number', 1e21, '1e+21'],
    ['booleans', [true, false], '[true,false]'],
    ['JSON escapes', 'a"b\\c\n\u0000', '"a\\"b\\\\c\\n\\u0000"'],
    ['letters beyond ASCII, raw', 'é😀', '"é😀"'],
    ['a function, which JSON has no word for', () => 1, 'null'],
    ['a date, which has no own keys', new Date(0), '{}'],
    ['an empty object and list', { a: {}, b: [] }, '{"a":{},"b":[]}'],
  ])('writes %s', (_, value, text) => {
    expect(stableStringify(value)).toBe(text);
  });

  it('sorts keys by UTF-16 code unit', () => {
    const value = { é: 1, z: 2, a: 3, Z: 4, 9: 5, 10: 6 };
    expect(stableStringify(value)).toBe('{"10":6,"9":5,"Z":4,"a":3,"z":2,"é":1}');
  });

  it('sorts keys at every depth and leaves lists in order', () => {
    expect(stableStringify({ b: [{ y: 2, x: 1 }, 'b', 'a'], a: { d: 1, c: 2 } })).toBe(
      '{"a":{"c":2,"d":1},"b":[{"x":1,"y":2},"b","a"]}',
    );
  });

  it('takes __proto__ for a key like any other', () => {
    expect(stableStringify(JSON.parse('{"b":1,"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1},"b":1}');
  });

  // Equal values have equal text, whatever order their keys were written in.
  it('never depends on the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(stableStringify(reversed(value))).toBe(stableStringify(value));
      }),
    );
  });

  // The text is JSON for the same value, and writing it again changes nothing.
  it('loses nothing that JSON can say', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = stableStringify(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(stableStringify(JSON.parse(text))).toBe(text);
      }),
    );
  });

  // Different values have different text: otherwise a change would go unseen.
  it('tells different values apart', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const same = stableStringify(left) === stableStringify(right);
        expect(same).toBe(JSON.stringify(sorted(left)) === JSON.stringify(sorted(right)));
      }),
    );
  });
});

function reversed(value: unknown): unknown {
  return rebuilt(value, (entries) => entries.reverse());
}

function sorted(value: unknown): unknown {
  return rebuilt(value, (entries) => entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}

function rebuilt(value: unknown, arrange: (entries: [string, unknown][]) => [string, unknown][]): unknown {
  if (Array.isArray(value)) return value.map((item) => rebuilt(item, arrange));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, rebuilt(item, arrange)]);
  return Object.fromEntries(arrange(entries));
}
