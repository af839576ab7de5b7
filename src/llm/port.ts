/** The one way to a model. Everything that asks one speaks this, and nothing else knows which provider answers. */
export interface Llm {
  /** False when nothing is configured: every call then ends in `llm_not_configured`. */
  readonly configured: boolean;
  complete(request: CompletionRequest): Promise<Completion>;
}

export interface CompletionRequest {
  system: string;
  messages: readonly Message[];
  /** `provider:model`; the configured one when left out. */
  model?: string;
  tools?: readonly ToolDefinition[];
  /** JSON schema of the one object that is wanted; given to providers that can be held to it. */
  schema?: Record<string, unknown>;
  budget?: Budget;
  signal?: AbortSignal;
}

export interface Message {
  role: 'user' | 'assistant' | 'tool';
  content: string;
  /** Files that belong to a user's message. */
  files?: readonly { file_name: string; content_type: string; content: Buffer }[];
  tool_calls?: readonly ToolCall[];
  /** Of a tool's answer: the call it answers. */
  tool_call_id?: string;
}

export interface ToolDefinition {
  name: string;
  description: string;
  input_schema: Record<string, unknown>;
}

export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
}

export interface Budget {
  /** Longer prompts are refused before they are sent. */
  input_tokens?: number;
  output_tokens?: number;
  timeout_ms?: number;
}

export interface Completion {
  text: string;
  tool_calls: readonly ToolCall[];
  provider: string;
  model: string;
  usage: { input_tokens: number; output_tokens: number };
}

export const LLM_CODES = [
  'llm_not_configured',
  'llm_budget_exceeded',
  'llm_timeout',
  'llm_canceled',
  'llm_refused',
  'llm_unavailable',
  'llm_inference_error',
  'llm_validation_error',
] as const;
export type LlmCode = (typeof LLM_CODES)[number];

/** How a call to a model can end badly; the message never holds a prompt or a key. */
export class LlmError extends Error {
  readonly code: LlmCode;

  constructor(code: LlmCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LlmError';
    this.code = code;
  }
}
