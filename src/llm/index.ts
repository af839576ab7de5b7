export { createLlm, type LlmOptions, type LlmSettings } from './create-llm.ts';
export {
  type Budget,
  type Completion,
  type CompletionRequest,
  LLM_CODES,
  type Llm,
  type LlmCode,
  LlmError,
  type Message,
  type ToolCall,
  type ToolDefinition,
} from './port.ts';
export { parseStrictObject } from './strict-json.ts';
