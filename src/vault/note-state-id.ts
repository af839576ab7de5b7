import { stableStringify } from '../kernel/canonical-json.ts';
import { fnv1a64Hex } from '../kernel/hash.ts';

const PREFIX = 'kn1_';

/** Stands for a note that is not there. */
export const ABSENT_NOTE_STATE_ID = `${PREFIX}${fnv1a64Hex(new Uint8Array([0]))}`;

/**
 * The token an edit is based on. Takes a note as it was read: the body without trailing white space. A front block
 * that comes as JSON text counts as that very text.
 */
export function noteStateId(note: { frontmatter: Record<string, unknown> | string; body: string }): string {
  const front = typeof note.frontmatter === 'string' ? note.frontmatter : stableStringify(note.frontmatter);
  return PREFIX + fnv1a64Hex(`${front}\0${note.body}`);
}
