import type { ApiCredential } from '../flowise/index.ts';
import type { CredentialEntry } from './port.ts';

/** What may be kept of a credential as a server lists it; null when it lists something else. */
export function credentialEntry(api: ApiCredential): CredentialEntry | null {
  return allowlisted({
    credential_id: api.id,
    name: api.name,
    type: api.credentialName,
    created_at: api.createdDate,
    updated_at: api.updatedDate,
  });
}

/** Field by field, so that nothing else can come along, out of a file or out of an answer. */
export function allowlisted(item: unknown): CredentialEntry | null {
  if (item === null || typeof item !== 'object') return null;
  const { credential_id, name, type, tags, created_at, updated_at } = item as Record<string, unknown>;
  if (typeof credential_id !== 'string' || credential_id === '') return null;
  if (typeof name !== 'string' || typeof type !== 'string') return null;
  return {
    credential_id,
    name,
    type,
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
    created_at: typeof created_at === 'string' ? created_at : null,
    updated_at: typeof updated_at === 'string' ? updated_at : null,
  };
}
