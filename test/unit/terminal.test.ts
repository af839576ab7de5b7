import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inert, inertLine, textTable } from '../../src/kernel/terminal.ts';

/** What a terminal obeys instead of showing: control characters and changes of direction. */
const OBEYED = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const hostileText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '\u001b',
      '\u009b',
      '\u0007',
      '\u0000',
      '\r',
      '\b',
      '\u007f',
      '\t',
      '\n',
      '\u2028',
      '\u202e',
      '\u2066',
    ),
    fc.string({ minLength: 1, maxLength: 3, unit: 'binary' }),
  ),
});

describe('[S002-9.7-injection] text of unknown origin in a terminal', () => {
  it.each([
    ['an escape sequence', '\u001b[2Jgone', '\\u001b[2Jgone'],
    ['an escape in one character', '\u009b2J', '\\u009b2J'],
    [
      'a link',
      '\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007',
      '\\u001b]8;;http://evil.example\\u0007click\\u001b]8;;\\u0007',
    ],
    ['a carriage return that writes over the line', 'safe\revil', 'safe\\u000devil'],
    ['a backspace', 'rm\b\bls', 'rm\\u0008\\u0008ls'],
    ['a change of direction', 'txt.\u202eexe', 'txt.\\u202eexe'],
    ['an isolated direction', 'a\u2066b\u2069', 'a\\u2066b\\u2069'],
    ['a NUL', 'a\u0000b', 'a\\u0000b'],
    ['a line separator', 'a\u2028b', 'a\\u2028b'],
  ])('shows %s', (_, text, shown) => {
    expect(inert(text)).toBe(shown);
  });

  it('leaves ordinary text of any language and its line breaks alone', () => {
    const text = `Grüße, 世界 😀 👩‍👩‍👧\nשלום \${x} {{y}} <b>`;
    expect(inert(text)).toBe(text);
  });

  // Whatever goes in, nothing that a terminal would obey comes out.
  it('leaves nothing to obey in any text', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(inert(text).replaceAll('\n', '')).not.toMatch(OBEYED);
        expect(inertLine(text)).not.toMatch(OBEYED);
        expect(inertLine(text)).not.toContain('\n');
      }),
    );
  });

  it('joins lines with one space', () => {
    expect(inertLine('first  \n\n   second\r\nthird')).toBe('first second third');
  });

  it('does not stall on a long run of spaces', () => {
    const text = `x${' '.repeat(40_000)}x`;
    const start = performance.now();
    expect(inertLine(text)).toBe(text);
    expect(performance.now() - start).toBeLessThan(250);
  });
});

describe('a table', () => {
  it('has columns as wide as their content and lets the last one run on', () => {
    expect(
      textTable(
        ['FLOW', 'TITLE'],
        [
          ['flow_a', 'A'],
          ['flow_long_name', 'A title that runs on'],
        ],
      ),
    ).toBe('FLOW            TITLE\nflow_a          A\nflow_long_name  A title that runs on');
  });

  it('counts a character beyond the basic plane once', () => {
    expect(
      textTable(
        ['A', 'B'],
        [
          ['😀', 'x'],
          ['yy', 'z'],
        ],
      ).split('\n'),
    ).toEqual(['A   B', '😀   x', 'yy  z']);
  });

  it('[S002-9.7-injection] keeps each row on one inert line', () => {
    const table = textTable(['A', 'B'], [['one\ntwo', '\u001b[31mred']]);
    expect(table.split('\n')).toEqual(['A        B', 'one two  \\u001b[31mred']);
  });

  it('without rows is its headers', () => {
    expect(textTable(['A', 'B'], [])).toBe('A  B');
  });
});
