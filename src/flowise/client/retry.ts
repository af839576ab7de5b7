import { setTimeout as pause } from 'node:timers/promises';
import type { Exchange, Outcome } from './transport.ts';

const MAX_TRIES = 3;
/** A server that hangs is given one more chance, not two: each costs the whole time limit. */
const MAX_TIMEOUTS = 2;
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

export interface RetryOptions {
  /** Before the first repetition; doubled before the next, and then anything from half of it. */
  delayMs: number;
  random?: () => number;
  /** Told before each repetition. */
  onRetry?(tries: number): void;
}

/** Only reads are sent again: whatever else was asked may have been done, though no answer came. */
export async function exchangeWithRetries(
  exchange: Exchange,
  send: (exchange: Exchange) => Promise<Outcome>,
  options: RetryOptions,
): Promise<Outcome> {
  const random = options.random ?? Math.random;
  const start = performance.now();
  for (let tries = 1; ; tries += 1) {
    const outcome = await send(exchange);
    if (exchange.method !== 'GET' || tries >= triesFor(outcome)) {
      if (tries === 1 || 'answer' in outcome) return outcome;
      return { failure: { ...outcome.failure, tries, waitedMs: performance.now() - start } };
    }
    options.onRetry?.(tries);
    await pause(options.delayMs * 2 ** (tries - 1) * (0.5 + random() / 2));
  }
}

function triesFor(outcome: Outcome): number {
  if ('answer' in outcome) return GATEWAY_STATUSES.has(outcome.answer.status) ? MAX_TRIES : 1;
  switch (outcome.failure.kind) {
    case 'unreachable':
    case 'broken':
      return MAX_TRIES;
    case 'timeout':
      return MAX_TIMEOUTS;
    case 'too_large':
    case 'not_http':
    case 'closed':
      return 1;
  }
}
