import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../kernel/config.ts';
import type { Log } from '../kernel/log.ts';
import { assertWithinBudget, DEFAULT_OUTPUT_TOKENS, estimateTokens } from './budget.ts';
import { errorOf, isTransient } from './faults.ts';
import type { ModelAddress, Provider } from './langchain.ts';
import { type Completion, type CompletionRequest, type Llm, LlmError } from './port.ts';
import { createSlots } from './slots.ts';
import { createWire, type WireFault } from './wire.ts';

const CALLS_AT_ONCE = 16;
const MAX_RETRIES = 2;
const FIRST_BACKOFF_MS = 250;
const MODEL = /^(openai|anthropic):(\S{1,200})$/;

const PROVIDERS: Record<Provider, { baseUrl: string; key: string }> = {
  openai: { baseUrl: 'https://api.openai.com/v1', key: 'OPENAI_API_KEY' },
  anthropic: { baseUrl: 'https://api.anthropic.com', key: 'ANTHROPIC_API_KEY' },
};

export type LlmSettings = Pick<Config, 'llm' | 'llm_base_url' | 'llm_api_key' | 'llm_timeout_seconds'>;

export interface LlmOptions {
  config: LlmSettings;
  environment?: Record<string, string | undefined>;
  log: Log;
}

/**
 * The way to models. A call waits for one of a few slots; from then on it has its time, in which hiccups are tried again
 * twice. Log lines tell provider, model, tokens and duration; no line and no error holds a prompt, an answer or a key.
 */
export function createLlm({ config, environment = process.env, log }: LlmOptions): Llm {
  const slots = createSlots(CALLS_AT_ONCE);
  const configured = config.llm !== null && addressOf(config, environment, config.llm) instanceof LlmError === false;

  const complete = async (request: CompletionRequest): Promise<Completion> => {
    if (config.llm === null)
      throw notConfigured('No model is configured. Set FLOWRIGHT_LLM, such as openai:gpt-5-mini');
    const address = addressOf(config, environment, request.model ?? config.llm);
    if (address instanceof LlmError) throw address;
    assertWithinBudget(request);
    const release = await slots.take(request.signal).catch(() => {
      throw aborted(request.signal);
    });
    const began = performance.now();
    const told = { provider: address.provider, model: address.model };
    try {
      const completion = await withinTime(config, request, address);
      const { input_tokens: input, output_tokens: output } = completion.usage;
      // Not by their own names: the log hides every field that is called a token.
      log.info({ ...told, usage: { input, output }, duration_ms: since(began) }, 'a model answered');
      return completion;
    } catch (thrown) {
      const error = thrown instanceof LlmError ? thrown : unexpected(address);
      log.info({ ...told, code: error.code, duration_ms: since(began) }, 'a model did not answer');
      throw error;
    } finally {
      release();
    }
  };
  return { configured, complete };
}

/** `provider:model` with where it is and the key for it. Address and key of the settings are those of their provider. */
function addressOf(
  config: LlmSettings,
  environment: Record<string, string | undefined>,
  wanted: string,
): ModelAddress | LlmError {
  const [, provider, model] = (MODEL.exec(wanted) ?? []) as [string?, Provider?, string?];
  if (!provider || !model) {
    return notConfigured('The model must be provider:model with the provider openai or anthropic');
  }
  const isOwn = config.llm?.startsWith(`${provider}:`) === true;
  const baseUrl = isOwn ? config.llm_base_url : null;
  const apiKey = (isOwn ? config.llm_api_key : null) ?? environment[PROVIDERS[provider].key];
  if (!apiKey && baseUrl === null) {
    return notConfigured(`There is no key for ${provider}. Set FLOWRIGHT_LLM_API_KEY or ${PROVIDERS[provider].key}`);
  }
  // A server of one's own often wants no key, but the client libraries insist on sending one.
  return { provider, model, baseUrl: baseUrl ?? PROVIDERS[provider].baseUrl, apiKey: apiKey || 'none' };
}

async function withinTime(config: LlmSettings, request: CompletionRequest, address: ModelAddress): Promise<Completion> {
  const limit = Math.min(request.budget?.timeout_ms ?? Number.POSITIVE_INFINITY, config.llm_timeout_seconds * 1_000);
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), limit);
  const signal = request.signal ? AbortSignal.any([time.signal, request.signal]) : time.signal;
  const gone = once(signal);
  try {
    // A race, because a client library may be slow to notice that nobody waits any more.
    return await Promise.race([askWithRetries(request, address, signal, performance.now() + limit), gone.promise]);
  } catch (thrown) {
    if (request.signal?.aborted) throw aborted(request.signal);
    if (time.signal.aborted) {
      const seconds = Math.round(limit / 100) / 10;
      const message = `${address.provider}:${address.model} did not answer within ${seconds} s. Raise llm_timeout_seconds or ask for less.`;
      throw new LlmError('llm_timeout', message);
    }
    throw thrown;
  } finally {
    clearTimeout(timer);
    gone.forget();
  }
}

async function askWithRetries(
  request: CompletionRequest,
  address: ModelAddress,
  signal: AbortSignal,
  deadline: number,
): Promise<Completion> {
  const { askLangChain } = await import('./langchain.ts');
  const name = `${address.provider}:${address.model}`;
  const outputTokens = request.budget?.output_tokens ?? DEFAULT_OUTPUT_TOKENS;
  let withSchema = request.schema !== undefined;
  for (let retries = 0; ; ) {
    const wire = createWire();
    try {
      const completion = await askLangChain({ request, address, outputTokens, wire, signal, withSchema });
      const { usage } = completion;
      return { ...completion, usage: { ...usage, input_tokens: usage.input_tokens || estimateTokens(request) } };
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof LlmError) throw thrown;
      const { fault } = wire;
      if (!fault) throw unexpected(address);
      if (withSchema && fault.kind === 'status' && (fault.status === 400 || fault.status === 422)) {
        withSchema = false;
        continue;
      }
      const pause = backoff(fault, retries);
      if (!isTransient(fault) || retries >= MAX_RETRIES || performance.now() + pause > deadline) {
        throw errorOf(fault, name);
      }
      retries += 1;
      await sleep(pause, undefined, { signal });
    }
  }
}

function backoff(fault: WireFault, retries: number): number {
  const own = FIRST_BACKOFF_MS * 2 ** retries * (0.75 + Math.random() / 2);
  return fault.kind === 'status' ? Math.max(fault.retryAfterMs ?? 0, own) : own;
}

/** Rejects when the signal is aborted. */
function once(signal: AbortSignal): { promise: Promise<never>; forget(): void } {
  let forget = () => {};
  const promise = new Promise<never>((_, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave);
    forget = () => signal.removeEventListener('abort', leave);
  });
  return { promise, forget };
}

function notConfigured(what: string): LlmError {
  return new LlmError('llm_not_configured', `${what}; \`flowright config show\` tells what is set.`);
}

function aborted(signal: AbortSignal | undefined): LlmError {
  const reason = signal?.reason as { name?: unknown } | undefined;
  return reason?.name === 'TimeoutError'
    ? new LlmError('llm_timeout', 'The time of the node was up before the model answered.')
    : new LlmError('llm_canceled', 'The call to the model was canceled.');
}

/** Without the cause: the errors of client libraries carry what was sent. */
function unexpected({ provider, model }: ModelAddress): LlmError {
  return new LlmError('llm_inference_error', `The answer of ${provider}:${model} could not be understood.`);
}

function since(began: number): number {
  return Math.round(performance.now() - began);
}
