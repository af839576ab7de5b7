import { readFileSync } from 'node:fs';
import { refusal } from '../../kernel/errors.ts';

/** A JSON object from a file, or from standard input when the name is `-`. */
export function readJsonObject(file: string): Record<string, unknown> {
  const shown = file === '-' ? 'standard input' : file;
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refusal('USAGE_ERROR', `${shown} cannot be read (${code}). Name a JSON file, or - for standard input.`);
  }
  return parsedObject(text, shown);
}

/** An option that holds a JSON object, or the name of a file with one after @. */
export function jsonObject(text: string, option: string): Record<string, unknown> {
  return text.startsWith('@') ? readJsonObject(text.slice(1)) : parsedObject(text, option);
}

function parsedObject(text: string, shown: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw refusal('USAGE_ERROR', `${shown} is not valid JSON: ${(error as Error).message}.`);
  }
  if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)) return parsed as Record<string, unknown>;
  throw refusal('USAGE_ERROR', `${shown} must hold a JSON object.`);
}
