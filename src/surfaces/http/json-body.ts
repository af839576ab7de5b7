import type { FastifyRequest } from 'fastify';
import { refusal } from '../../kernel/errors.ts';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Bytes that are not UTF-8, or text that is not JSON, are refused rather than repaired. */
export function parseJsonBody(
  _request: FastifyRequest,
  body: Buffer,
  done: (error: Error | null, value?: unknown) => void,
): void {
  if (body.length === 0) {
    done(null, undefined);
    return;
  }
  try {
    done(null, JSON.parse(strictUtf8.decode(body)));
  } catch {
    done(refusal('BAD_REQUEST', 'The body is not valid JSON in UTF-8.'));
  }
}
