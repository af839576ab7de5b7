import { LlmError } from '../../../llm/index.ts';
import { AttemptFailure } from '../modes.ts';
import type { NodeExecution } from '../node-type.ts';
import type { Json } from './config-reader.ts';
import { SYSTEM } from './prompt.ts';

const OUTPUT_TOKENS = 8_192;

/** The model's answer. Whatever goes wrong is a failed attempt with a word for its reason. */
export async function askModel({ services, signal }: NodeExecution, prompt: string, schema?: Json): Promise<string> {
  try {
    const { text } = await services.llm.complete({
      system: SYSTEM,
      messages: [{ role: 'user', content: prompt }],
      ...(schema ? { schema } : {}),
      budget: { output_tokens: OUTPUT_TOKENS },
      signal,
    });
    return text;
  } catch (thrown) {
    // A canceled run, or a node whose time is up, has nothing left to try.
    signal.throwIfAborted();
    if (!(thrown instanceof LlmError)) throw thrown;
    throw failureOf(thrown);
  }
}

function failureOf(error: LlmError): AttemptFailure {
  const { code, message } = error;
  if (code === 'llm_not_configured') return new AttemptFailure(code, message, { isFinal: true, cause: error });
  if (code === 'llm_validation_error') return new AttemptFailure(code, message, { cause: error });
  // The same prompt would be too long again.
  const isFinal = code === 'llm_budget_exceeded';
  return new AttemptFailure('llm_inference_error', `${code}: ${message}`, { isFinal, cause: error });
}
