import { NodeFailure } from './node-type.ts';

export type Mode = 'llm_guided' | 'deterministic';

export interface Degradation {
  failed_mode: Mode;
  fallback_mode: Mode;
  fallback_reason: string;
  /** What the failed mode said, bounded. */
  fallback_message: string;
}

const MAX_MESSAGE = 500;

/** What one attempt did not manage, with the word that stands for it in `fallback_reason`. */
export class AttemptFailure extends Error {
  readonly reason: string;
  /** Trying the same again cannot help. */
  readonly isFinal: boolean;

  constructor(reason: string, message: string, options: { isFinal?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AttemptFailure';
    this.reason = reason;
    this.isFinal = options.isFinal ?? false;
  }
}

/**
 * The primary mode is attempted 1 + retry_count times. When all of that fails and fallback is enabled, the other mode
 * is attempted exactly once. Anything else than an AttemptFailure ends it at once: a wrong config stays wrong.
 */
export async function attemptModes<T>(options: {
  mode: Mode;
  retryCount: number;
  fallbackEnabled: boolean;
  signal: AbortSignal;
  attempt: (mode: Mode) => Promise<T>;
}): Promise<{ value: T; degradation: Degradation | null }> {
  const { mode, signal, attempt } = options;
  let failure: AttemptFailure | undefined;
  for (let tries = 0; tries <= options.retryCount; tries += 1) {
    signal.throwIfAborted();
    try {
      return { value: await attempt(mode), degradation: null };
    } catch (thrown) {
      failure = attemptFailure(thrown);
      if (failure.isFinal) break;
    }
  }
  if (!failure) throw new NodeFailure('primary_runtime_error', `The ${mode} mode was never attempted.`);
  if (!options.fallbackEnabled) throw new NodeFailure(failure.reason, failure.message, { cause: failure });
  const fallback: Mode = mode === 'llm_guided' ? 'deterministic' : 'llm_guided';
  signal.throwIfAborted();
  try {
    const value = await attempt(fallback);
    return {
      value,
      degradation: {
        failed_mode: mode,
        fallback_mode: fallback,
        fallback_reason: failure.reason,
        fallback_message: bounded(failure.message),
      },
    };
  } catch (thrown) {
    const second = attemptFailure(thrown);
    throw new NodeFailure(
      'fallback_runtime_error',
      `The ${mode} mode failed (${failure.reason}: ${failure.message}), and so did ${fallback} after it (fallback_runtime_error: ${second.message}).`,
      { cause: second },
    );
  }
}

function bounded(message: string): string {
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1).replace(/\p{Cs}$/u, '')}…` : message;
}

function attemptFailure(thrown: unknown): AttemptFailure {
  if (thrown instanceof AttemptFailure) return thrown;
  throw thrown;
}
