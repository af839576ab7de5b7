import { stableStringify } from '../kernel/canonical-json.ts';
import { sha256Hex } from '../kernel/hash.ts';

/** A line of the log. Each carries the hash of the one before it, so that a change anywhere shows everywhere after. */
export interface AuditEntry {
  vault_id: string;
  sequence: number;
  at: string;
  user_id: string;
  actor_hash: string;
  door: string;
  action: string;
  outcome: 'done' | 'refused';
  code: string | null;
  occurrences: number;
  request_id: string;
  detail: Record<string, unknown>;
}

export interface ChainedEntry extends AuditEntry {
  previous_hash: string;
  hash: string;
}

export const CHAIN_START = '0'.repeat(64);

export function chainHash(previousHash: string, entry: AuditEntry): string {
  return sha256Hex(`${previousHash}\n${stableStringify(entry)}`);
}

/** The sequence of the first line that does not follow from the one before, or null when all do. */
export function firstBreak(previous: { sequence: number; hash: string }, entries: ChainedEntry[]): number | null {
  let { sequence, hash } = previous;
  for (const { previous_hash, hash: claimed, ...entry } of entries) {
    const follows = entry.sequence === sequence + 1 && previous_hash === hash && chainHash(hash, entry) === claimed;
    if (!follows) return entry.sequence;
    sequence = entry.sequence;
    hash = claimed;
  }
  return null;
}
