/** Are two JSON values the same? The order of keys says nothing, that of a list does. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object') return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, at) => same(item, other[at]));
  }
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>];
  return keys.every((key) => Object.hasOwn(right, key) && same(left[key], right[key]));
}

/** Names of the fields that two objects do not have in common, in the order of the second. */
export function differingFields(one: Record<string, unknown>, other: Record<string, unknown>): string[] {
  const names = [...new Set([...Object.keys(other), ...Object.keys(one)])];
  return names.filter(
    (name) => Object.hasOwn(one, name) !== Object.hasOwn(other, name) || !same(one[name], other[name]),
  );
}
