import type { BaseMessage, MessageContent } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { textTokens } from './budget.ts';
import { type Completion, type CompletionRequest, LlmError, type Message, type ToolCall } from './port.ts';
import type { Wire } from './wire.ts';

export type Provider = 'openai' | 'anthropic';

export interface ModelAddress {
  provider: Provider;
  model: string;
  baseUrl: string;
  apiKey: string;
}

interface ModelCall {
  request: CompletionRequest;
  address: ModelAddress;
  outputTokens: number;
  wire: Wire;
  signal: AbortSignal;
  /** Some servers that speak the protocol know no schemas. */
  withSchema: boolean;
}

/** One call through LangChain's model of the provider. Loading these packages takes long, so only who asks does it. */
export async function askLangChain(call: ModelCall): Promise<Completion> {
  const { provider, model } = call.address;
  const result = await (provider === 'openai' ? askOpenAi(call) : askAnthropic(call));
  const generation = result.generations[0];
  if (!generation) throw new LlmError('llm_inference_error', `${provider}:${model} answered without an answer.`);
  const message = generation.message as unknown as Answered;
  const finish = String(generation.generationInfo?.finish_reason ?? message.response_metadata?.stop_reason ?? '');
  const refusal = message.additional_kwargs?.refusal;
  if (finish === 'content_filter' || finish === 'refusal' || typeof refusal === 'string') {
    throw new LlmError('llm_refused', `${provider}:${model} declined to answer. Reword the prompt.`);
  }
  if (finish === 'length' || finish === 'max_tokens') {
    const limit = `${call.outputTokens} tokens`;
    throw new LlmError('llm_budget_exceeded', `The answer of ${provider}:${model} was cut off at ${limit}.`);
  }
  const text = textOf(message.content);
  const tool_calls = toolCallsOf(message);
  if (text === '' && tool_calls.length === 0) {
    throw new LlmError('llm_inference_error', `${provider}:${model} answered with nothing.`);
  }
  const { input_tokens, output_tokens } = message.usage_metadata ?? {};
  return {
    text,
    tool_calls,
    provider,
    model,
    usage: {
      input_tokens: input_tokens ?? 0,
      output_tokens: output_tokens ?? textTokens([text, JSON.stringify(tool_calls)]),
    },
  };
}

/** What we read of a LangChain message. */
interface Answered {
  content: MessageContent;
  tool_calls?: { id?: string; name: string; args: unknown }[];
  invalid_tool_calls?: { id?: string; name?: string; args?: string }[];
  additional_kwargs?: Record<string, unknown>;
  response_metadata?: Record<string, unknown>;
  usage_metadata?: { input_tokens?: number; output_tokens?: number };
}

// `_generate` and not `invoke`: the latter prints or sends prompts elsewhere when LANGCHAIN_VERBOSE or LANGSMITH_TRACING
// happen to be set, and nothing here may write a prompt down.
async function askOpenAi({ request, address, outputTokens, wire, signal, withSchema }: ModelCall): Promise<ChatResult> {
  const { ChatOpenAICompletions } = await import('@langchain/openai');
  const chat = new ChatOpenAICompletions({
    model: address.model,
    apiKey: address.apiKey,
    maxTokens: outputTokens,
    maxRetries: 0,
    streaming: false,
    configuration: { baseURL: address.baseUrl, fetch: wire.fetch },
  });
  const schema = withSchema ? request.schema : undefined;
  return chat._generate(await messagesOf(request), {
    signal,
    strict: false,
    ...(request.tools ? { tools: request.tools.map(openAiTool) } : {}),
    ...(schema
      ? {
          response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: false }, ...UNPARSED },
        }
      : {}),
  });
}

/** The client would parse the answer itself and take prose for a broken server; judging answers is our parser's work. */
const UNPARSED = { $parseRaw: (text: string) => text };

async function askAnthropic({ request, address, outputTokens, wire, signal }: ModelCall): Promise<ChatResult> {
  const { ChatAnthropic } = await import('@langchain/anthropic');
  const chat = new ChatAnthropic({
    model: address.model,
    apiKey: address.apiKey,
    anthropicApiUrl: address.baseUrl,
    maxTokens: outputTokens,
    maxRetries: 0,
    streaming: false,
    clientOptions: { fetch: wire.fetch },
  });
  return chat._generate(await messagesOf(request), {
    signal,
    ...(request.tools ? { tools: request.tools.map(openAiTool) } : {}),
  });
}

function openAiTool({ name, description, input_schema }: NonNullable<CompletionRequest['tools']>[number]) {
  return { type: 'function' as const, function: { name, description, parameters: input_schema } };
}

async function messagesOf(request: CompletionRequest): Promise<BaseMessage[]> {
  const { AIMessage, HumanMessage, SystemMessage, ToolMessage } = await import('@langchain/core/messages');
  const one = (message: Message): BaseMessage => {
    const { role, content, tool_calls = [], tool_call_id = '' } = message;
    if (role === 'user') return new HumanMessage({ content: userContent(message) });
    if (role === 'tool') return new ToolMessage({ content, tool_call_id });
    const calls = tool_calls.map(({ id, name, input }) => ({
      id,
      name,
      args: (input ?? {}) as Record<string, unknown>,
      type: 'tool_call' as const,
    }));
    return new AIMessage({ content, tool_calls: calls });
  };
  return [new SystemMessage(request.system), ...request.messages.map(one)];
}

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** Images as both providers take them; other files are only named, for lack of a form that every server knows. */
function userContent({ content, files = [] }: Message): MessageContent {
  if (files.length === 0) return content;
  return [
    { type: 'text', text: content },
    ...files.map(({ file_name, content_type, content: bytes }) =>
      IMAGES.includes(content_type)
        ? { type: 'image_url', image_url: { url: `data:${content_type};base64,${bytes.toString('base64')}` } }
        : { type: 'text', text: `(${file_name}, ${content_type}: not shown)` },
    ),
  ] as MessageContent;
}

function textOf(content: MessageContent): string {
  if (typeof content === 'string') return content;
  return content.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : '')).join('');
}

/** Arguments that are not JSON stay the text they are, so that whoever asked can tell the model. */
function toolCallsOf(message: Answered): ToolCall[] {
  return [
    ...(message.tool_calls ?? []).map(({ id, name, args }) => ({ id: id ?? name, name, input: args })),
    ...(message.invalid_tool_calls ?? []).map(({ id, name = '', args }) => ({ id: id ?? name, name, input: args })),
  ];
}
