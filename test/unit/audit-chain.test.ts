import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AuditEntry, CHAIN_START, type ChainedEntry, chainHash, firstBreak } from '../../src/audit/chain.ts';
import { sha256Hex } from '../../src/kernel/hash.ts';

const START = { sequence: 0, hash: CHAIN_START };

function entry(sequence: number): AuditEntry {
  return {
    vault_id: 'default',
    sequence,
    at: '2026-01-01T00:00:00.000Z',
    user_id: 'anna',
    actor_hash: 'a'.repeat(64),
    door: 'http',
    action: 'token.create',
    outcome: 'done',
    code: null,
    occurrences: 1,
    request_id: `r${sequence}`,
    detail: { user: 'bob', scopes: ['personal'] },
  };
}

function chain(length: number, sequenceAt = (at: number) => at + 1): ChainedEntry[] {
  let previous_hash = CHAIN_START;
  return Array.from({ length }, (_, at) => {
    const line = entry(sequenceAt(at));
    const hash = chainHash(previous_hash, line);
    const chained = { ...line, previous_hash, hash };
    previous_hash = hash;
    return chained;
  });
}

const CHANGES: Record<keyof ChainedEntry, unknown> = {
  vault_id: 'other',
  sequence: 99,
  at: '2026-01-01T00:00:00.001Z',
  user_id: 'eve',
  actor_hash: 'b'.repeat(64),
  door: 'cli',
  action: 'token.revoke',
  outcome: 'refused',
  code: 'FORBIDDEN',
  occurrences: 2,
  request_id: 'other',
  detail: { user: 'bob', scopes: [] },
  previous_hash: CHAIN_START,
  hash: '0'.repeat(64),
};

describe('[FLR-audit-chain] the chain of the log', () => {
  it('is unbroken as it was written, whole or page by page', () => {
    const lines = chain(5);
    expect(firstBreak(START, lines)).toBeNull();
    expect(firstBreak({ sequence: 2, hash: lines[1]!.hash }, lines.slice(2))).toBeNull();
    expect(firstBreak(START, [])).toBeNull();
  });

  it('hashes a line with the hash before it, whatever order its keys came in', () => {
    const turned = Object.fromEntries(Object.entries(entry(1)).reverse()) as unknown as AuditEntry;
    expect(chainHash(CHAIN_START, turned)).toBe(chainHash(CHAIN_START, entry(1)));
    expect(chainHash(sha256Hex('x'), entry(1))).not.toBe(chainHash(CHAIN_START, entry(1)));
  });

  it.each(Object.entries(CHANGES))('breaks where %s of a line is changed', (key, value) => {
    const lines = chain(4);
    lines[2] = { ...lines[2]!, [key]: value };
    expect(firstBreak(START, lines)).toBe(lines[2].sequence);
  });

  it('breaks where a line is missing, doubled, moved or put in', () => {
    const [a, b, c, d] = chain(4) as [ChainedEntry, ChainedEntry, ChainedEntry, ChainedEntry];
    expect(firstBreak(START, [a, c, d])).toBe(3);
    expect(firstBreak(START, [b, c, d])).toBe(2);
    expect(firstBreak(START, [a, a, b])).toBe(1);
    expect(firstBreak(START, [a, c, b, d])).toBe(3);
    expect(firstBreak(START, [a, b, { ...c, ...entry(3), action: 'x' }])).toBe(3);
  });

  it('breaks where numbers are left out, even when every hash follows', () => {
    expect(
      firstBreak(
        START,
        chain(3, (at) => (at < 2 ? at + 1 : 7)),
      ),
    ).toBe(7);
    expect(
      firstBreak(
        START,
        chain(3, () => 1),
      ),
    ).toBe(1);
  });

  it('breaks after a line that was changed together with its own hash', () => {
    const lines = chain(4);
    const forged = { ...entry(2), action: 'nothing.happened' };
    lines[1] = { ...lines[1]!, ...forged, hash: chainHash(lines[0]!.hash, forged) };
    expect(firstBreak(START, lines)).toBe(3);
  });

  // Any change of any one line's detail is noticed at that line.
  it('notices any change of a detail', () => {
    const other = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(other, fc.nat({ max: 4 }), (detail, at) => {
        const lines = chain(5);
        lines[at] = { ...lines[at]!, detail };
        expect(firstBreak(START, lines)).toBe(at + 1);
      }),
    );
  });
});
