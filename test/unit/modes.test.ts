import { describe, expect, it } from 'vitest';
import { AttemptFailure, attemptModes } from '../../src/flowcharts/nodes/modes.ts';

const fallBackFrom = (message: string) =>
  attemptModes({
    mode: 'llm_guided',
    retryCount: 0,
    fallbackEnabled: true,
    signal: new AbortController().signal,
    attempt: async (mode) => {
      if (mode === 'llm_guided') throw new AttemptFailure('llm_inference_error', message);
      return 'done';
    },
  });

describe('[FLR-fallback-message] a fallback that succeeds', () => {
  it('keeps why it was needed', async () => {
    expect(await fallBackFrom('The model is gone.')).toEqual({
      value: 'done',
      degradation: {
        failed_mode: 'llm_guided',
        fallback_mode: 'deterministic',
        fallback_reason: 'llm_inference_error',
        fallback_message: 'The model is gone.',
      },
    });
  });

  it('keeps no more than 500 characters of it, and no half character', async () => {
    const { degradation } = await fallBackFrom(`${'x'.repeat(498)}${'🦔'.repeat(9)}`);
    expect(degradation?.fallback_message).toBe(`${'x'.repeat(498)}…`);
    expect((await fallBackFrom('y'.repeat(500))).degradation?.fallback_message).toBe('y'.repeat(500));
  });
});
