import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frontmatterFault, noteStateId, noteText, parseNote } from '../../src/vault/index.ts';

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
  it('[FLR-notes] keeps every value with its type, and every body', () => {
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
      { numRuns: 1_500 },
    );
  });
});

describe('[FLR-notes] the text of a note', () => {
  it('has its front block between lines of dashes, one line a value, nothing folded', () => {
    const frontmatter = { title: 'x'.repeat(300), tags: ['a', 'b'], nested: { list: [1, [2]], none: null }, on: 'yes' };
    expect(noteText({ frontmatter, body: '# Heading\n\nText\n\n' })).toBe(
      `---\ntitle: ${'x'.repeat(300)}\ntags:\n  - a\n  - b\nnested:\n  list: [ 1, [ 2 ] ]\n  none: null\n"on": "yes"\n---\n# Heading\n\nText\n`,
    );
  });

  it('names no value twice by an anchor, also where two are one object', () => {
    const shared = { a: [1, 2] };
    const text = noteText({ frontmatter: { one: shared, two: shared, three: [shared, shared] }, body: '' });
    expect(text).not.toMatch(/[&*]/);
    expect(parseNote(text).frontmatter).toEqual({ one: shared, two: shared, three: [shared, shared] });
  });

  it.each(['', 'text', '# Heading\n\ntext', ' leading', '\n\nleading lines', '- a\n- b', '--', '-- -', '\ufeffbom'])(
    'without values and with the body %j is the body',
    (body) => {
      expect(noteText({ frontmatter: {}, body })).toBe(body === '' ? '' : `${body}\n`);
      expect(parseNote(body)).toEqual({ frontmatter: {}, body, damaged: null });
    },
  );

  it.each(['---', '---\ntext', '---\ntitle: not a value\n---\ntext', '----', '\ufeff---\na: 1\n---'])(
    'keeps a body that begins like a front block apart: %j',
    (body) => {
      expect(parseNote(noteText({ frontmatter: {}, body }))).toEqual({ frontmatter: {}, body, damaged: null });
    },
  );
});

describe('[FLR-notes] a note written by hand', () => {
  it.each([
    ['---\ntitle: Hi\n---\nbody', { title: 'Hi' }, 'body'],
    ['---\r\ntitle: Hi\r\nlist:\r\n- a\r\n---\r\none\r\ntwo\r\n', { title: 'Hi', list: ['a'] }, 'one\r\ntwo'],
    ['\ufeff---\ntitle: Hi\n---\nbody', { title: 'Hi' }, 'body'],
    ['--- \t\ntitle: Hi\n---  \nbody', { title: 'Hi' }, 'body'],
    ['---\n---\nbody', {}, 'body'],
    ['---\n\n# only a comment\n\n---\nbody', {}, 'body'],
    ['---\ntitle: Hi\n---', { title: 'Hi' }, ''],
    ['---\ntitle: Hi\n---\n\n\nbody \n \n', { title: 'Hi' }, '\n\nbody'],
    ['---\ntext: |\n  one\n  ---\n  two\n---\nbody', { text: 'one\n---\ntwo\n' }, 'body'],
  ])('%j is read', (text, frontmatter, body) => {
    expect(parseNote(text)).toEqual({ frontmatter, body, damaged: null });
  });

  it.each([
    'no front block',
    '--\ntitle: Hi\n--\nbody',
    ' ---\ntitle: Hi\n---\nbody',
    '\n---\ntitle: Hi\n---\nbody',
    '---\ntitle: Hi',
    '---\ntitle: Hi\n ---\nbody',
    '---x\ntitle: Hi\n---\nbody',
    '---\nA rule, a sentence and a rule.\n---\nbody',
    '---\n- a\n- b\n---\nbody',
  ])('%j has no front block', (text) => {
    expect(parseNote(text)).toEqual({ frontmatter: {}, body: text, damaged: null });
  });

  it('keeps dates as the ISO text they are, and everything as what it is', () => {
    const yaml = [
      'day: 2026-01-31',
      'at: 2026-01-31T10:20:30Z',
      'yes: yes',
      'true: true',
      'null: null',
      'tilde: ~',
      'empty:',
      'int: -12',
      'float: 1.50',
      'power: 1e3',
      'zip: 01234',
      'phone: +4930123456',
      'hex: 0x1F',
      'infinite: .inf',
      'long: 12345678901234567890',
      'clock: 12:30',
      'quoted: "5"',
      '7: seven',
      'merge: {<<: {a: 1}}',
    ].join('\n');
    expect(front(yaml).frontmatter).toEqual({
      day: '2026-01-31',
      at: '2026-01-31T10:20:30Z',
      yes: 'yes',
      true: true,
      null: null,
      tilde: null,
      empty: null,
      int: -12,
      float: 1.5,
      power: 1_000,
      zip: '01234',
      phone: '+4930123456',
      hex: '0x1F',
      infinite: '.inf',
      long: '12345678901234567890',
      clock: '12:30',
      quoted: '5',
      7: 'seven',
      merge: { '<<': { a: 1 } },
    });
  });

  it('may name a value and refer to it a few times', () => {
    expect(front('a: &x [1, 2]\nb: *x\nc: *x').frontmatter).toEqual({ a: [1, 2], b: [1, 2], c: [1, 2] });
  });

  it('gives a tag no power', () => {
    const { frontmatter } = front('a: !!js/function "function(){}"\nb: !foo bar\nc: !!binary aGk=');
    expect(frontmatter).toEqual({ a: 'function(){}', b: 'bar', c: 'aGk=' });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(front('__proto__: {polluted: 1}').frontmatter)).toBe(Object.prototype);
  });

  const nested = (depth: number) => `a: ${'['.repeat(depth)}1${']'.repeat(depth)}`;
  const bomb = (levels: number) =>
    ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
      .concat(Array.from({ length: levels }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`))
      .join('\n');

  it.each([
    ['is not YAML', 'title: "open'],
    ['has a tab for indentation', 'a:\n\tb: 1'],
    ['has a key twice', 'a: 1\nb: 2\na: 3'],
    ['has a key twice, further in', 'x:\n  - {a: 1, "a": 2}'],
    ['has a list for a key', '? [a, b]\n: 1'],
    ['has two documents', 'a: 1\n...\nb: 2'],
    ['refers to nothing', 'a: *nothing'],
    ['is a bomb of aliases', bomb(9)],
    ['refers too often', `a: &x [1]\n${Array.from({ length: 200 }, (_, at) => `b${at}: *x`).join('\n')}`],
    ['nests too deep', nested(17)],
    ['nests far too deep', nested(60_000)],
    ['opens and never closes', `a: ${'['.repeat(60_000)}`],
    ['is too large', `a: ${'x'.repeat(300_000)}`],
    ['holds more than its JSON may', Array.from({ length: 9_000 }, (_, at) => `key${at}: 1`).join('\n')],
  ])('whose front block %s is damaged, not empty', (_what, yaml) => {
    const start = performance.now();
    const note = front(yaml);
    expect(note).toMatchObject({
      frontmatter: {},
      body: 'body',
      damaged: expect.stringMatching(/^its front block is damaged: ./),
    });
    expect(note.damaged?.length).toBeLessThan(300);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  // Any text at all is read without an exception; what is not damaged survives being written and read again.
  it('never throws, whatever it is, and is never changed by being written', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '---',
        '--- ',
        '...',
        'a: 1',
        '- b',
        '  c: d',
        '? e',
        ': f',
        '"',
        "'",
        '|',
        '>',
        '&x y',
        '*x',
        '#',
        '',
        '\t',
        '{',
        ']',
      ),
      fc.string({ unit: 'binary', maxLength: 10 }).map(wellFormed),
    );
    const text = fc.array(line, { maxLength: 10 }).map((lines) => `---\n${lines.join('\n')}`);
    fc.assert(
      fc.property(text, (file) => {
        const { damaged, ...note } = parseNote(file);
        if (damaged === null) expect(parseNote(noteText(note))).toEqual({ ...note, damaged });
      }),
      { numRuns: 1_500 },
    );
  });
});

describe('[FLR-notes] values for a front block', () => {
  const deep = (depth: number): unknown => (depth === 0 ? 1 : { a: deep(depth - 1) });

  it.each([
    ['nothing', {}],
    ['sixteen levels', deep(16)],
    ['nearly 64 KiB', { a: 'x'.repeat(65_500) }],
    ['NUL, which YAML can write', { a: '\u0000' }],
  ])('may be %s', (_what, value) => {
    expect(frontmatterFault(value)).toBeNull();
    expect(parseNote(noteText({ frontmatter: value as Record<string, unknown>, body: 'b' }))).toMatchObject({
      frontmatter: value,
      damaged: null,
    });
  });

  it.each([
    ['a list', []],
    ['null', null],
    ['a text', 'a'],
    ['seventeen levels', deep(17)],
    ['a hundred thousand levels', JSON.parse(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)],
    ['more than 64 KiB of text', { a: 'x'.repeat(65_536) }],
    ['more than 64 KiB of keys', Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, 1]))],
    ['more than 64 KiB of nothing', { a: Array.from({ length: 40_000 }, () => []) }],
    ['half a character', { a: '\ud800' }],
    ['half a character in a key', { '\udc00': 1 }],
    ['what JSON cannot hold', { a: Number.NaN }],
    ['a function', { a: () => 1 }],
  ])('may not be %s', (_what, value) => {
    expect(frontmatterFault(value)).toMatch(/^must /);
  });

  it('at their largest are written in a block that is read again', () => {
    const largest: Record<string, unknown>[] = [
      { a: Array.from({ length: 32_000 }, () => 0) },
      { a: Array.from({ length: 21_000 }, () => []) },
      { a: { b: { c: Array.from({ length: 32_000 }, () => 1) } } },
      Object.fromEntries(Array.from({ length: 7_000 }, (_, at) => [at.toString(36), 0])),
      { a: '\u0001'.repeat(10_900) },
      { a: '\n'.repeat(32_000) },
    ];
    for (const frontmatter of largest) {
      expect(frontmatterFault(frontmatter)).toBeNull();
      expect(parseNote(noteText({ frontmatter, body: '' }))).toEqual({ frontmatter, body: '', damaged: null });
    }
  });
});
