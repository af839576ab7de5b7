import { readFileSync } from 'node:fs';
import { refusal } from '../../kernel/errors.ts';

/** A JSON object from a file, or from standard input when the name is `-`. */
export function readJsonObject(file: string): Record<string, unknown> {
  return parsedObject(readText(file), shownName(file));
}

/** Any JSON from a file, or from standard input when the name is `-`. */
export function readJson(file: string): unknown {
  return parsed(readText(file), shownName(file));
}

function shownName(file: string): string {
  return file === '-' ? 'standard input' : file;
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refusal(
      'USAGE_ERROR',
      `${shownName(file)} cannot be read (${code}). Name a JSON file, or - for standard input.`,
    );
  }
}

/** An option that holds a JSON object, or the name of a file with one after @. */
export function jsonObject(text: string, option: string): Record<string, unknown> {
  return text.startsWith('@') ? readJsonObject(text.slice(1)) : parsedObject(text, option);
}

function parsed(text: string, shown: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refusal('USAGE_ERROR', `${shown} is not valid JSON: ${(error as Error).message}.`);
  }
}

function parsedObject(text: string, shown: string): Record<string, unknown> {
  const value = parsed(text, shown);
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  throw refusal('USAGE_ERROR', `${shown} must hold a JSON object.`);
}
