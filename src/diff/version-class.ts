import { compareSemver, parseSemver } from '../kernel/semver.ts';

/** What a change asks of the version number, smallest first. */
export const CLASSES = ['none', 'patch', 'minor', 'major'] as const;
export type Class = (typeof CLASSES)[number];
export type Bump = Exclude<Class, 'none'>;

const PARTS: readonly Bump[] = ['major', 'minor', 'patch'];

export function rankOf(word: Class): number {
  return CLASSES.indexOf(word);
}

/** The step from one version to a later one; null when there is none, or no step forward. */
export function bumpBetween(before: string | undefined, after: string | undefined): Bump | null {
  const [old, current] = [parseSemver(before ?? ''), parseSemver(after ?? '')];
  if (!old || !current || compareSemver(old.join('.'), current.join('.')) >= 0) return null;
  return PARTS.find((_, part) => old[part] !== current[part]) ?? null;
}

/** 1.4.2 with a minor step is 1.5.0. */
export function nextVersion(version: string, bump: Bump): string {
  const part = PARTS.indexOf(bump);
  const digits = parseSemver(version) ?? ['0', '0', '0'];
  return digits.map((text, at) => (at < part ? text : at === part ? String(BigInt(text) + 1n) : '0')).join('.');
}
