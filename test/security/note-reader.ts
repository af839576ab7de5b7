import { parse } from 'yaml';

/** A reader of our own: the front block, and the last fenced block of the body. */
export function readNote(text: string): { front: Record<string, unknown>; body: string; bundle: unknown } {
  const [, yaml = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  const fences = [...body.matchAll(/^```json\n([\s\S]*?)\n```$/gm)];
  const last = fences.at(-1)?.[1];
  return { front: parse(yaml) as Record<string, unknown>, body, bundle: last === undefined ? null : JSON.parse(last) };
}
