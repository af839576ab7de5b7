import { type CompletionRequest, LlmError } from './port.ts';

export const DEFAULT_INPUT_TOKENS = 100_000;
export const DEFAULT_OUTPUT_TOKENS = 8_192;

/** Measured over English and source text, a token is rarely less than three bytes. */
const BYTES_PER_TOKEN = 3;
const TOKENS_PER_MESSAGE = 8;
const TOKENS_PER_IMAGE = 1_500;

/** How many tokens a prompt has at about the most. No tokenizer: those differ between models, and this must be cheap. */
export function estimateTokens(request: CompletionRequest): number {
  const texts = [request.system, ...request.messages.map(({ content }) => content)];
  for (const { tool_calls } of request.messages) if (tool_calls) texts.push(JSON.stringify(tool_calls));
  if (request.tools) texts.push(JSON.stringify(request.tools));
  if (request.schema) texts.push(JSON.stringify(request.schema));
  const images = request.messages.reduce((sum, { files }) => sum + (files?.length ?? 0), 0);
  return textTokens(texts) + (request.messages.length + 1) * TOKENS_PER_MESSAGE + images * TOKENS_PER_IMAGE;
}

export function textTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN), 0);
}

/** Refuses what is too long before anything is sent. */
export function assertWithinBudget(request: CompletionRequest): void {
  const limit = request.budget?.input_tokens ?? DEFAULT_INPUT_TOKENS;
  const tokens = estimateTokens(request);
  if (tokens > limit) {
    throw new LlmError(
      'llm_budget_exceeded',
      `The prompt has about ${tokens} tokens and the budget is ${limit}. Give the model less: shorter prompts, fewer connectors or smaller files.`,
    );
  }
}
