import { createHash } from 'node:crypto';
import type { Raw } from './target.ts';

/** What two servers must have in common in one answer: status, kind, shape, and the words of a refusal. */
export interface Trace {
  status: number;
  type: string;
  shape: unknown;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

export function traceOf({ status, type, text, json }: Raw): Trace {
  if (json === undefined) return { status, type, shape: type === 'text/html' && text.length > 40 ? 'page' : text };
  return { status, type, shape: shapeOf(json, status >= 400) };
}

/** Keys and kinds; of a refusal the sentences too, since clients read them. */
function shapeOf(value: unknown, words: boolean): unknown {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0], words)];
  if (typeof value === 'object') {
    const entries = Object.entries(value).map(([key, inner]) => [key, shapeOf(inner, words)] as const);
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  if (typeof value === 'string' && words) return withoutParserWords(value.replaceAll(UUID, '<id>'));
  return words ? value : typeof value;
}

/** Every version of the engine has its own words for text that is no JSON, and for a value that is no object. */
function withoutParserWords(message: string): string {
  return message.replace(/(^| - )[^-]*(is not valid JSON|in JSON|JSON input).*$/s, '$1<no JSON>');
}

/** Takes down an answer under a name, and hands it on. */
export type Note = (name: string, answer: Raw) => Raw;

export const NOBODY = '00000000-0000-4000-8000-000000000000';

/** Of a catalogue only the names count: descriptions are left out of fixtures. */
export function named(answer: Raw): Raw {
  const nameOf = (entry: { name?: string; templateName?: string }) => entry.templateName ?? entry.name;
  const { json } = answer;
  const names = Array.isArray(json) ? json.map(nameOf).sort() : [nameOf(json)];
  const digest = createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 16);
  return { ...answer, json: { [names.length > 3 ? `${names.length} names ${digest}` : names.join(', ')]: true } };
}

/** Rows of others may be there as well. */
export function shortened(answer: Raw): Raw {
  const { json } = answer;
  return { ...answer, json: Array.isArray(json) ? json.slice(0, 1) : { ...json, data: json.data?.slice(0, 1) } };
}

/** Documents and results of tools depend on the libraries of the real server. */
export function withoutResults(answer: Raw): Raw {
  if (answer.status >= 400) return answer;
  const { addedDocs, sourceDocuments, usedTools, ...rest } = answer.json;
  const present = { addedDocs, sourceDocuments, usedTools };
  const lists = Object.fromEntries(
    Object.entries(present).flatMap(([key, list]) => (list ? [[key, list.length > 0]] : [])),
  );
  return { ...answer, json: { ...rest, ...lists } };
}

/** Name of a case → what the server answered. */
export type Traces = Record<string, Trace>;

/** One case a line. */
export function tracesText(traces: Traces): string {
  const lines = Object.entries(traces).map(([name, trace]) => `${JSON.stringify(name)}: ${JSON.stringify(trace)}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}
