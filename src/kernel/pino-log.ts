import { pino } from 'pino';
import type { Log } from './log.ts';
import { isSecretName, REDACTED } from './secrets.ts';

const MAX_DEPTH = 6;

/** JSON lines on stderr; every field whose name says secret is hidden, at any depth. */
export function createPinoLog(level: string, destination: NodeJS.WritableStream = process.stderr): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { log: redact } },
    destination,
  );
}

function redact(fields: Record<string, unknown>): Record<string, unknown> {
  return hide(fields, 0) as Record<string, unknown>;
}

function hide(value: unknown, depth: number): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Error) return { name: value.name, message: value.message, stack: value.stack };
  if (value instanceof Date) return value;
  if (depth >= MAX_DEPTH) return '[deep]';
  if (Array.isArray(value)) return value.map((item) => hide(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, isSecretName(key) ? REDACTED : hide(item, depth + 1)]),
  );
}
