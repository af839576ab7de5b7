/** The only fields of a credential that may be kept. */
export const CREDENTIAL_FIELDS = ['credential_id', 'name', 'type', 'tags', 'created_at', 'updated_at'] as const;

const BANNED_PART = /secret|key|password|token|credential/i;
const BANNED_WHOLE = new Set(['encrypteddata', 'plaindataobj']);
const EXCEPTIONS = new Set(['type', 'credential_id']);

/** Where keys stand that no file of credentials may hold, as JSON pointers. Values are not looked at, nor told. */
export function bannedKeys(items: unknown): string[] {
  const found: string[] = [];
  const left: { value: unknown; path: string }[] = [{ value: items, path: '' }];
  for (let place = left.pop(); place; place = left.pop()) {
    if (place.value === null || typeof place.value !== 'object') continue;
    const isList = Array.isArray(place.value);
    for (const [key, value] of Object.entries(place.value)) {
      const path = `${place.path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (!isList && isBanned(key)) found.push(path);
      left.push({ value, path });
    }
  }
  return found.sort();
}

function isBanned(key: string): boolean {
  return BANNED_WHOLE.has(key.toLowerCase()) || (BANNED_PART.test(key) && !EXCEPTIONS.has(key));
}
