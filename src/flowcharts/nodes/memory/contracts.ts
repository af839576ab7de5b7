import { fitsMemory, MAX_MEMORY_BYTES } from '../../../memories/index.ts';
import { AttemptFailure } from '../modes.ts';
import { MAX_LIMIT, type StoreMode } from './config.ts';

type Json = Record<string, unknown>;

/** What a model answers when it is asked what to keep. */
export interface AddInference {
  text: string;
  store_mode?: StoreMode;
  confidence?: number;
}

/** What a model answers when it is asked what to look for. */
export interface RetrieveInference {
  /** Present and empty: the newest, whatever they say. */
  query_text?: string;
  memory_id?: number;
  limit?: number;
  confidence?: number;
}

export function readAddInference(answer: Json): AddInference {
  const { text } = answer;
  if (typeof text !== 'string' || text.trim() === '') throw invalid('text must be a text that is not blank');
  if (!fitsMemory(text)) throw invalid(`text must have at most ${MAX_MEMORY_BYTES} bytes`);
  if (/\0|\p{Cs}/u.test(text)) throw invalid('text must not hold NUL or half a character');
  const { store_mode } = answer;
  return {
    text: text.trim(),
    ...(store_mode === 'append' || store_mode === 'replace' ? { store_mode } : {}),
    ...confidenceOf(answer),
  };
}

export function readRetrieveInference(answer: Json): RetrieveInference {
  const memoryId = numberOf(answer.memory_id);
  const limit = numberOf(answer.limit);
  return {
    ...(answer.query_text === undefined ? {} : { query_text: queryText(answer.query_text) }),
    ...(Number.isSafeInteger(memoryId) && (memoryId as number) > 0 ? { memory_id: memoryId as number } : {}),
    ...(limit === undefined ? {} : { limit: Math.min(Math.max(Math.trunc(limit), 1), MAX_LIMIT) }),
    ...confidenceOf(answer),
  };
}

function queryText(value: unknown): string {
  if (value === null) return '';
  if (typeof value === 'object') throw invalid('query_text must be a text');
  return String(value).trim();
}

function confidenceOf({ confidence }: Json): { confidence?: number } {
  const number = numberOf(confidence);
  return number === undefined ? {} : { confidence: Math.min(Math.max(number, 0), 1) };
}

/** Models like to put numbers into quotes. */
function numberOf(value: unknown): number | undefined {
  if (typeof value !== 'number' && (typeof value !== 'string' || value.trim() === '')) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function invalid(message: string): AttemptFailure {
  return new AttemptFailure(
    'llm_validation_error',
    `The answer of the model does not keep to the contract: ${message}.`,
  );
}
