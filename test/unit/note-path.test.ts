import { join, resolve, sep } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkNotePath, isServerPath, NotePath, refuseServerPath } from '../../src/vault/index.ts';

const reasonOf = (path: string) => {
  const verdict = checkNotePath(path);
  return verdict.ok ? null : verdict.reason;
};

const FIT = [
  'a.md',
  'inbox/a.md',
  'projects/x/y/z.md',
  'What is this?.md',
  'a b.md',
  ' a.md',
  'ÄÖÜ/é.md',
  '漢字/ノート.md',
  '👩‍👩‍👧.md',
  'a..b.md',
  'a.b.c.md',
  '~/a.md',
  '-rf.md',
  '%2e%2e/a.md',
  'meta/flows/a:b.md',
  'console.md',
  'com10.md',
  'nulls/auxiliary.md',
  `${'a'.repeat(252)}.md`,
  `${'a/'.repeat(63)}b.md`,
  `${`${'a'.repeat(99)}/`.repeat(10)}${'b'.repeat(21)}.md`,
];

const UNFIT: [string, RegExp][] = [
  ['', /empty/],
  ['a', /end with \.md/],
  ['a.MD', /end with \.md/],
  ['a.md.txt', /end with \.md/],
  ['a.md/', /empty part/],
  ['/a.md', /relative/],
  ['//server/a.md', /relative/],
  ['a//b.md', /empty part/],
  ['./a.md', /begins with a dot/],
  ['../a.md', /begins with a dot/],
  ['a/../b.md', /begins with a dot/],
  ['a/./b.md', /begins with a dot/],
  ['a/..', /begins with a dot/],
  ['.md', /begins with a dot/],
  ['.git/a.md', /begins with a dot/],
  ['a/.obsidian/b.md', /begins with a dot/],
  ['...md', /begins with a dot/],
  ['a /b.md', /ends with a dot or a space/],
  ['a./b.md', /ends with a dot or a space/],
  ['a\\b.md', /not with/],
  ['..\\a.md', /not with/],
  ['C:a.md', /drive/],
  ['c:/a.md', /drive/],
  ['a\u0000.md', /control/],
  ['a\n.md', /control/],
  ['a\u007f.md', /control/],
  ['a\u0085.md', /control/],
  ['a\u2028.md', /control/],
  ['dm.\u202ea.md', /control/],
  ['\ud800.md', /control/],
  ['e\u0301.md', /NFC/],
  ['\u212b.md', /NFC/],
  ['con.md', /device/],
  ['CON.md', /device/],
  ['a/nul/b.md', /device/],
  ['Aux.tar.md', /device/],
  ['com1.md', /device/],
  ['LPT9.md', /device/],
  ['com¹.md', /device/],
  ['con .md', /device/],
  [`${'a'.repeat(253)}.md`, /255 bytes/],
  [`${'é'.repeat(127)}.md`, /255 bytes/],
  [`${`${'a'.repeat(99)}/`.repeat(10)}${'b'.repeat(22)}.md`, /1024 bytes/],
  [`${'a/'.repeat(64)}b.md`, /64 parts/],
];

describe('[FLR-notes] the path of a note', () => {
  it.each(FIT)('may be %j', (path) => {
    expect(checkNotePath(path)).toEqual({ ok: true });
    expect(NotePath.parse(path)).toBe(path);
  });

  it.each(UNFIT)('may not be %j', (path, reason) => {
    expect(reasonOf(path)).toMatch(reason);
    expect(reasonOf(path)).toMatch(/^must /);
    expect(NotePath.safeParse(path).success).toBe(false);
  });

  // Whatever text is let through names a file strictly below the root, by its own segments.
  it('never leads out of the vault, whatever the text', () => {
    const piece = fc.oneof(
      fc.constantFrom('..', '.', '', '/', '\\', 'a', '.md', 'a.md', '~', 'C:', '\u0000', '%2e', '．．', '\u2024\u2024'),
      fc.string({ unit: 'binary', maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.constantFrom('/', ''), (pieces, glue) => {
        const path = `${pieces.join(glue)}.md`;
        fc.pre(checkNotePath(path).ok);
        const full = resolve('/vault', path);
        expect(full.startsWith(`/vault${sep}`)).toBe(true);
        expect(full).toBe(join('/vault', path));
        expect(full.slice('/vault/'.length).split('/')).toEqual(path.split('/'));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('[FLR-notes] a path of the server', () => {
  it.each([
    'meta/flows/a.md',
    'Meta/Flows/a.md',
    'META/FLOWS/a.md',
    'approvals/a.md',
    'Approvals/2026/a.md',
    'meta/ﬂows/a.md',
    'meta/flowſ/a.md',
    'ｍｅｔａ/flows/a.md',
    'me\u200cta/flows/a.md',
    'ap\u00adprovals/a.md',
  ])('is %s, as some file system would read it', (path) => {
    expect(isServerPath(path)).toBe(true);
    expect(() => refuseServerPath(path)).toThrow('propose a change to the flow');
  });

  it.each([
    'meta/a.md',
    'meta/flows.md',
    'approvals.md',
    'projects/approvals/a.md',
    'x/meta/flows/a.md',
    'metaflows/a.md',
  ])('is not %s', (path) => {
    expect(isServerPath(path)).toBe(false);
    expect(() => refuseServerPath(path)).not.toThrow();
  });
});
