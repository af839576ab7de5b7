import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noteStateId, noteText, parseNote } from '../../src/vault/index.ts';

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
const front = (yaml: string) => parseNote(`---\n${yaml}\n---\nbody`);

/** Texts that a reader of YAML might take for something else. */
const TRICKY = fc.constantFrom(
  ...[
    'true',
    'False',
    'yes',
    'NO',
    'on',
    'off',
    'y',
    'n',
    'null',
    'Null',
    '~',
    '',
    ' ',
    '-',
    '- a',
    '? a',
    ': a',
    'a: b',
  ],
  ...['1', '-1', '+1', '01', '0123', '1.0', '1.50', '.5', '5.', '1e3', '1E+21', '0x1F', '0o14', '0b1', '1_000', '.inf'],
  ...['-.INF', '.nan', '12:30', '12:30:45', '2026-01-01', '2026-01-01T10:00:00Z', '2026-01-01 10:00:00', '20260101'],
  ...[
    '12345678901234567890',
    '!!str a',
    '!tag',
    '&anchor',
    '*alias',
    '<<',
    '=',
    '%YAML 1.1',
    '---',
    '...',
    '# no',
    'a # b',
  ],
  ...[
    '[a',
    ']',
    '{a',
    '}',
    '"',
    "'",
    '"a"',
    "'a'",
    '`a',
    '@a',
    '|',
    '>',
    '|-',
    'a\n---\nb',
    '---\na: 1\n---',
    '\n',
    '\n\n',
  ],
  ...[
    'a\n',
    'a\n\n',
    ' a',
    'a ',
    '\ta',
    'a\t',
    'a\r\nb',
    'a\rb',
    'x\u0085y',
    'x\u2028y',
    '\ufeff',
    '\ufeffa',
    '\u0000',
  ],
  ...[
    '  a\nb',
    'a\n  b\n c',
    'é',
    '漢字',
    '😀',
    '\u202e',
    'a very long line '.repeat(20),
    'x'.repeat(2_000),
    '\\',
    '\\n',
  ],
);
const anyText = fc.oneof(TRICKY, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' })).map(wellFormed);
const anyKey = fc.oneof(anyText, fc.constantFrom('__proto__', 'constructor', 'toString', 'title', 'tags'));
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: 'small' },
    anyText,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(anyKey, tie('value'), { maxKeys: 4 }),
  ),
}));
const anyFrontmatter = fc.dictionary(anyKey, anyValue, { maxKeys: 6 });
const anyBody = fc.oneof(
  anyText,
  fc.array(anyText, { maxLength: 6 }).map((lines) => lines.join('\n')),
);

function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, '\ufffd');
}

describe('a note written and read again', () => {
  // Whatever JSON the front block holds and whatever text the body is: the same values and the same state id come back.
  it('[FLR-note-round-trip] keeps every value with its type, and every body', () => {
    fc.assert(
      fc.property(anyFrontmatter, anyBody, (frontmatter, body) => {
        const note = { frontmatter: asJson(frontmatter), body: body.trimEnd() };
        const text = noteText(note);
        const read = parseNote(text);
        expect(read).toEqual({ ...note, damaged: null });
        expect(JSON.stringify(read.frontmatter)).toBe(JSON.stringify(note.frontmatter));
        expect(noteStateId(read)).toBe(noteStateId(note));
        expect(noteText(read), 'writing again changes nothing').toBe(text);
      }),
      { numRuns: Number(process.env.RUNS ?? 1500) },
    );
  });
});
