type Json = Record<string, unknown>;

/** The model and the list see summaries: what is longer shows its beginning only. */
export const EXCERPT_BYTES = 2_048;

export interface Excerpt extends Json {
  truncated: true;
  excerpt: string;
}

/** The value itself while its JSON is short enough, else the beginning of that JSON. */
export function excerptOf<T>(value: T, limit = EXCERPT_BYTES): T | Excerpt {
  if (value === null || value === undefined) return value;
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text, 'utf8') <= limit) return value;
  return { truncated: true, excerpt: beginning(text, limit) };
}

/** At most so many bytes of UTF-8, also once it is written as a JSON string; no character is cut in two. */
function beginning(text: string, limit: number): string {
  const envelope = '{"truncated":true,"excerpt":""}'.length;
  let room = limit - envelope;
  let at = 0;
  for (const character of text) {
    room -= Buffer.byteLength(JSON.stringify(character), 'utf8') - 2;
    if (room < 0) break;
    at += character.length;
  }
  return text.slice(0, at);
}
