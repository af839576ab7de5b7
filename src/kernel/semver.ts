/** Strict MAJOR.MINOR.PATCH: no leading zeros, no pre-release or build part. */
export const SEMVER_RE = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

export type Semver = readonly [string, string, string];

/** The three parts as digit strings, so that no part loses precision; null when the text is not a version. */
export function parseSemver(text: string): Semver | null {
  const match = SEMVER_RE.exec(text);
  return match ? [match[1] as string, match[2] as string, match[3] as string] : null;
}

/** Negative, zero or positive like a sort comparator. A text that is no version sorts before every version. */
export function compareSemver(left: string, right: string): number {
  const a = parseSemver(left);
  const b = parseSemver(right);
  if (!a || !b) return Number(a !== null) - Number(b !== null);
  for (let part = 0; part < 3; part += 1) {
    const order = compareDigits(a[part] as string, b[part] as string);
    if (order !== 0) return order;
  }
  return 0;
}

function compareDigits(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
