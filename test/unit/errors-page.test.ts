import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../src/kernel/errors.ts';
import { ROOT } from '../support/program.ts';

const rows = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| `/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

const CODES = Object.keys(ERRORS) as ErrorCode[];

describe('[FLR-errors-closed] docs/errors.md', () => {
  it('lists the codes of the table, each once and in its order', () => {
    expect(rows.map(([code]) => code)).toEqual(CODES.map((code) => `\`${code}\``));
  });

  it.each(CODES)('gives %s its status, its exit code, a meaning and what to do next', (code) => {
    const { status, next } = ERRORS[code];
    const [, shownStatus, exit, meaning, todo, ...more] = rows.find(([cell]) => cell === `\`${code}\``) ?? [];
    expect(shownStatus).toBe(String(status));
    expect(exit).toBe(status >= 500 && status !== 501 ? '2' : '1');
    expect(meaning).toMatch(/^[A-Z`].{15,}\.$/);
    expect(todo).toBe(next);
    expect(more).toEqual([]);
  });
});
