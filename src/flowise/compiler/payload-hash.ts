import { stableStringify } from '../../kernel/canonical-json.ts';
import { sha256Hex } from '../../kernel/hash.ts';
import type { Compilation } from './compilation.ts';

/**
 * The fingerprint of all that a change writes, and so of what a person approves: the text of the flow and, where the
 * change stores tools first, these with their code. Without tools it is the hash of the text alone. A flow is one JSON
 * value, so no text can be mistaken for another one with tools behind it.
 */
export function payloadHash(text: string, tools: Compilation['tools']): string {
  return sha256Hex(tools.length === 0 ? text : `${text}\n${stableStringify(tools)}`);
}
