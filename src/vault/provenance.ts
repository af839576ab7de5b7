/** Keys of a front block that tell where a note comes from. The server sets them; what clients send there is dropped. */
export const PROVENANCE_KEYS = [
  'author_kind',
  'knowtation_editor',
  'knowtation_edited_at',
  'knowtation_proposed_by',
  'knowtation_approved_by',
] as const;

type Frontmatter = Record<string, unknown>;
export type Provenance = Partial<Record<(typeof PROVENANCE_KEYS)[number], string>>;

export function stripProvenance(frontmatter: Frontmatter): Frontmatter {
  const own: readonly string[] = PROVENANCE_KEYS;
  return Object.fromEntries(Object.entries(frontmatter).filter(([key]) => !own.includes(key)));
}

/** The client's keys first, the server's last. */
export function withProvenance(frontmatter: Frontmatter, provenance: Provenance): Frontmatter {
  return Object.fromEntries([...Object.entries(stripProvenance(frontmatter)), ...Object.entries(provenance)]);
}
