import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { LONGEST_TEXT, stripRecordings } from '../../scripts/strip-recordings.mjs';
import { FIXTURES, recordingsFolder } from '../support/fake-flowise/data.ts';

/** Made by asking a server, not from its recordings. */
const RECORDED_BY_TESTS = 'conformance.json';
const MAX_BYTES = 2 * 1_048_576;

const files = readdirSync(FIXTURES).filter((file) => file.endsWith('.json') && file !== RECORDED_BY_TESTS);
const textOf = (file: string, folder = FIXTURES) => readFileSync(path.join(folder, file), 'utf8');

/** Every text inside, also those of JSON inside a text. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') {
    if (!/^\s*[[{]/.test(value)) return [value];
    try {
      return [value, ...textsIn(JSON.parse(value))];
    } catch {
      return [value];
    }
  }
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsIn) : [];
}

/** Keys anywhere inside. */
function keysIn(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, inner]) => [...(Array.isArray(value) ? [] : [key]), ...keysIn(inner)]);
}

describe('fixtures from a real Flowise', () => {
  it('are left as they are when stripped again, and stay small [FLR-fixtures-no-prose]', () => {
    const again = stripRecordings(FIXTURES);
    expect([...again.keys()].sort()).toEqual(files.sort());
    for (const [file, text] of again) expect(text === textOf(file), file).toBe(true);
    expect([...again.values()].join('').length).toBeLessThan(MAX_BYTES);
  });

  it('hold no descriptions, hints or paths of a server [FLR-fixtures-no-prose]', () => {
    for (const file of ['nodes.json', 'components-credentials.json']) {
      const keys = new Set(keysIn(JSON.parse(textOf(file))));
      const prose = ['description', 'hint', 'warning', 'codeExample', 'deprecateMessage', 'filePath', 'icon'];
      expect(
        prose.filter((key) => keys.has(key)),
        file,
      ).toEqual([]);
    }
    for (const file of files) expect(textOf(file), file).not.toMatch(/\/srv\/|node_modules/);
  });

  it('hold no long text at all but lists of file types and ids of edges [FLR-fixtures-no-prose]', () => {
    const isFact = (text: string) => /^(\.\w+,? ?)+$/.test(text) || /^\S+-output-\S+-input-\S+$/.test(text);
    for (const file of files) {
      const long = textsIn(JSON.parse(textOf(file))).filter((text) => text.length > LONGEST_TEXT && !isFact(text));
      expect(
        long.filter((text) => !/^\s*\[/.test(text)),
        file,
      ).toEqual([]);
    }
  });

  it.skipIf(recordingsFolder() === null)(
    'are what stripping the recordings gives, and share no long text with them [FLR-fixtures-no-prose]',
    () => {
      const folder = recordingsFolder() as string;
      const stripped = stripRecordings(folder);
      for (const [file, text] of stripped) expect(text === textOf(file), file).toBe(true);
      for (const file of stripped.keys()) {
        const isProse = (text: string) => text.length > LONGEST_TEXT && /[a-z] [a-z]/.test(text);
        const recorded = new Set(textsIn(JSON.parse(textOf(file, folder))).filter(isProse));
        expect(
          textsIn(JSON.parse(textOf(file))).filter((text) => recorded.has(text)),
          file,
        ).toEqual([]);
      }
    },
  );
});
