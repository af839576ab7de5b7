import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FlowChangeSchema } from '../../src/diff/change.ts';
import { IMPACT } from '../../src/diff/impact.ts';
import { compareProof, KIND_CHANGE } from '../../src/diff/proof.ts';
import { VERIFICATION_KINDS } from '../../src/flows/index.ts';
import { ROOT } from '../support/program.ts';

const page = readFileSync(join(ROOT, 'docs/flow-diff.md'), 'utf8');

/** The rows of the table whose first header is this one. */
function table(header: string): string[][] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.split('|')[1]?.trim() === header);
  const rows = lines.slice(start).slice(0, lines.slice(start).indexOf(''));
  return rows
    .filter((_, at) => at !== 1)
    .map((row) => row.slice(1, -1).split('|'))
    .map((cells) => cells.map((cell) => cell.trim().replaceAll('`', '')));
}

describe('[FLR-diff] docs/flow-diff.md', () => {
  it('says of every kind of change what the code says', () => {
    const [, ...rows] = table('kind');
    const coded = Object.entries(IMPACT).flatMap(([kind, impact]) =>
      typeof impact === 'string'
        ? [[kind, '', impact]]
        : Object.entries(impact).map(([when, word]) => [kind, when, word]),
    );
    expect(rows).toEqual(coded);
  });

  it('knows every kind that can be on the wire', () => {
    const kinds = FlowChangeSchema.unwrap().options.flatMap(({ shape }) => [...shape.kind._zod.values]);
    expect(kinds.sort()).toEqual(Object.keys(IMPACT).sort());
  });

  it('has the table of tightened and loosened', () => {
    const [[, ...columns] = [], ...rows] = table('from \\ to');
    expect(columns).toEqual([...VERIFICATION_KINDS]);
    const written = Object.fromEntries(
      rows.map(([from, ...cells]) => [from, Object.fromEntries(cells.map((cell, at) => [columns[at], cell]))]),
    );
    expect(written).toEqual(KIND_CHANGE);
  });
});

describe('the table of tightened and loosened', () => {
  const MIRROR = { tightened: 'loosened', loosened: 'tightened', changed: 'changed', same: 'same' };

  it('reads the other way round from the other side, and has no circle', () => {
    for (const from of VERIFICATION_KINDS) {
      expect(KIND_CHANGE[from][from]).toBe('same');
      for (const to of VERIFICATION_KINDS) {
        expect(KIND_CHANGE[to][from]).toBe(MIRROR[KIND_CHANGE[from][to]]);
        for (const beyond of VERIFICATION_KINDS) {
          const climbs = KIND_CHANGE[from][to] === 'tightened' && KIND_CHANGE[to][beyond] === 'tightened';
          if (climbs) expect(KIND_CHANGE[from][beyond], `${from} ${to} ${beyond}`).toBe('tightened');
        }
      }
    }
  });

  it('a person is the strictest, whatever the machine', () => {
    for (const kind of VERIFICATION_KINDS.filter((word) => word !== 'human_review')) {
      expect(KIND_CHANGE[kind].human_review).toBe('tightened');
    }
  });

  it.each([
    ['value_match', false, 'value_match', true, 'tightened'],
    ['value_match', true, 'value_match', false, 'loosened'],
    ['artifact_exists', false, 'test_pass', true, 'tightened'],
    ['artifact_exists', true, 'test_pass', false, 'changed'],
    ['human_review', false, 'agent_check', true, 'changed'],
    ['test_pass', true, 'agent_check', true, 'changed'],
    ['test_pass', true, 'agent_check', false, 'changed'],
    ['test_pass', true, 'test_pass', true, 'same'],
  ] as const)('%s with evidence %s to %s with evidence %s is %s', (from, had, to, has, verdict) => {
    const [before, after] = [
      { kind: from, evidence_required: had },
      { kind: to, evidence_required: has },
    ];
    expect(compareProof(before, after)).toBe(verdict);
  });
});
