import { LlmError } from './port.ts';
import type { WireFault } from './wire.ts';

/** Hiccups that pass: worth another try. */
export function isTransient(fault: WireFault): boolean {
  if (fault.kind === 'network') return true;
  if (fault.kind !== 'status' || fault.word === 'insufficient_quota') return false;
  return fault.status === 408 || fault.status === 429 || fault.status >= 500;
}

/** A fault in words: what happened, and what a person can do about it. */
export function errorOf(fault: WireFault, model: string): LlmError {
  switch (fault.kind) {
    case 'network':
      return new LlmError(
        'llm_unavailable',
        `The server of ${model} cannot be reached. Check llm_base_url and the network, then run again.`,
      );
    case 'not_json':
      return new LlmError(
        'llm_inference_error',
        `The server of ${model} answered with something that is not JSON. Check that llm_base_url is the address of its API.`,
      );
    case 'too_large':
      return new LlmError('llm_inference_error', `The answer of ${model} is far too large; it was not read.`);
    case 'status':
      return statusError(fault.status, fault.word, model);
  }
}

function statusError(status: number, word: string | undefined, model: string): LlmError {
  const said = word ? `${status} (${word})` : String(status);
  if (word === 'context_length_exceeded') {
    return new LlmError('llm_budget_exceeded', `The prompt is longer than ${model} takes (${said}). Give it less.`);
  }
  if (word === 'insufficient_quota') {
    return new LlmError('llm_refused', `The account behind ${model} has no quota left (${said}). Top it up.`);
  }
  if (status === 401 || status === 403) {
    return new LlmError('llm_refused', `The server of ${model} refused the key (${said}). Check llm_api_key.`);
  }
  if (status === 404) {
    return new LlmError(
      'llm_refused',
      `The server does not know ${model} (${said}). Check the name of the model and llm_base_url.`,
    );
  }
  if (status === 408 || status === 429 || status >= 500) {
    return new LlmError('llm_unavailable', `The server of ${model} has trouble (${said}). Run again later.`);
  }
  return new LlmError('llm_inference_error', `The server of ${model} did not accept the request (${said}).`);
}
