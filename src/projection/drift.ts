import { sha256Hex } from '../kernel/hash.ts';
import { compareSemver, parseSemver } from '../kernel/semver.ts';
import { readMarker, withoutMarker } from './marker.ts';

/** Names the text's bytes and nothing else: not when it was made, nor from where. */
export function contentHash(rendered: string): string {
  return `sha256:${sha256Hex(rendered)}`;
}

/** Older than the latest version, or of a version that cannot be told: then it is regenerated rather than trusted. */
export function isProjectionStale(projectionVersion: string, latestVersion: string): boolean {
  if (!parseSemver(projectionVersion) || !parseSemver(latestVersion)) return true;
  return compareSemver(projectionVersion, latestVersion) < 0;
}

export type DriftReason = 'absent' | 'missing_marker' | 'clean' | 'edited';

export interface Drift {
  drift: boolean;
  reason: DriftReason;
}

/**
 * Compares a file with what its flow renders to now. The marker may differ, because a version can change without
 * changing the text; line ends may too, because checking out a repository can change them.
 */
export function detectDrift({ onDisk, fresh }: { onDisk: string | null; fresh: string }): Drift {
  if (onDisk === null || onDisk.trim() === '') return { drift: true, reason: 'absent' };
  const found = onDisk.replaceAll('\r\n', '\n');
  if (!readMarker(found)) return { drift: true, reason: 'missing_marker' };
  const isSame = withoutMarker(found) === withoutMarker(fresh);
  return isSame ? { drift: false, reason: 'clean' } : { drift: true, reason: 'edited' };
}
