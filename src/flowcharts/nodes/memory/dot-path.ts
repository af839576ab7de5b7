/** `a.b.0.c`: objects by their own keys, lists by decimal index, blank segments skipped; undefined where it ends. */
export function lookUp(root: unknown, path: string): unknown {
  let current = root;
  for (const segment of path.split('.').map((part) => part.trim())) {
    if (segment === '') continue;
    if (Array.isArray(current)) {
      current = /^\d{1,9}$/.test(segment) ? current[Number(segment)] : undefined;
    } else if (current !== null && typeof current === 'object' && Object.hasOwn(current, segment)) {
      current = (current as Record<string, unknown>)[segment];
    } else {
      return undefined;
    }
  }
  return current;
}
