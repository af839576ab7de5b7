import { describe, expect, it } from 'vitest';
import { fnv1a64Hex } from '../../src/kernel/hash.ts';
import { ABSENT_NOTE_STATE_ID, NoteStateId, noteStateId, noteText, parseNote } from '../../src/vault/index.ts';

describe('[FLR-state-id-vectors] the state id of a note', () => {
  it.each([
    [new Uint8Array(), 'cbf29ce484222325'],
    [new Uint8Array([0]), 'af63bd4c8601b7df'],
    ['a', 'af63dc4c8601ec8c'],
    ['foobar', '85944171f73967e8'],
    ['é', '0ac21707b7181e01'],
    ['😀', 'feff073875020288'],
  ])('rests on the hash of %j', (input, hash) => {
    expect(fnv1a64Hex(input)).toBe(hash);
  });

  it.each([
    [{}, '', 'kn1_c735a31983dc6cdf'],
    [{ title: 'Hi' }, 'body', 'kn1_c68c252604a8f39a'],
    [{ tags: ['b', 'a'], nested: { y: 2, x: 1 } }, 'Line 1\nLine 2', 'kn1_13d3a3801b213db3'],
    [{ b: 1, a: 2 }, 'x', 'kn1_5b5c5a16bb025fd3'],
    ['{"b":1,"a":2}', 'x', 'kn1_7281458b1468a663'],
    ['{"t":1}', 'b', 'kn1_2bb2815a1a2c50dc'],
  ])('of %j with the body %j is %s', (frontmatter, body, id) => {
    expect(noteStateId({ frontmatter, body })).toBe(id);
    expect(NoteStateId.parse(id)).toBe(id);
  });

  it('that is absent is that of a single zero', () => {
    expect(ABSENT_NOTE_STATE_ID).toBe('kn1_af63bd4c8601b7df');
  });

  it('does not depend on the order of keys, on the way the file is written, or on space at its end', () => {
    const files = [
      '---\ntitle: Hi\ntags: [a, b]\n---\nbody\n\n  \n',
      '---\r\ntags:\r\n  - a\r\n  - "b"\r\ntitle: "Hi" # really\r\n---\r\nbody',
    ];
    const ids = files.map((text) => noteStateId(parseNote(text)));
    expect(new Set(ids).size).toBe(1);
  });

  it.each([
    ['date', 'due: 2026-01-01', 'due: 2026-01-02'],
    ['time', 'at: 2026-01-01T10:00:00Z', 'at: 2026-01-01T10:00:01Z'],
    ['type', 'n: 1', 'n: "1"'],
    ['switch', 'done: true', 'done: "true"'],
    ['leading zero', 'zip: 01234', 'zip: 1234'],
  ])('tells a change of nothing but a %s', (_what, before, after) => {
    const id = (yaml: string) => noteStateId(parseNote(`---\n${yaml}\n---\nbody`));
    expect(id(before)).not.toBe(id(after));
    for (const yaml of [before, after]) {
      const note = parseNote(`---\n${yaml}\n---\nbody`);
      expect(noteStateId(parseNote(noteText(note))), 'and survives being written').toBe(id(yaml));
    }
  });
});
