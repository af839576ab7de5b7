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
