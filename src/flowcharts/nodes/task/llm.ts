import { type Completion, LlmError, parseStrictObject } from '../../../llm/index.ts';
import { type NodeExecution, NodeFailure, type Outcome } from '../node-type.ts';
import { answerIssues } from './answer-schema.ts';
import type { TaskConfig } from './config.ts';
import { taskOutcome } from './outcome.ts';
import { firstMessage, repairMessage, SYSTEM_CONTRACT } from './prompt.ts';

const MAX_RAW_BYTES = 65_536;

type Json = Record<string, unknown>;

/** Asks the model for one JSON object; an answer of another form is sent back with what is wrong with it. */
export async function askModel(execution: NodeExecution, config: TaskConfig): Promise<Outcome> {
  if (config.task_prompt === '') throw new NodeFailure('task_prompt_required', 'The task has no task_prompt.');
  const first = await firstMessage(execution, config);
  const usage = { input_tokens: 0, output_tokens: 0 };
  let repair: ReturnType<typeof repairMessage>[] = [];
  let error = '';
  for (let attempt = 1; attempt <= config.attempts; attempt += 1) {
    const completion = await complete(execution, config, [first, ...repair]);
    usage.input_tokens += completion.usage.input_tokens;
    usage.output_tokens += completion.usage.output_tokens;
    try {
      const structured_output = structured(completion.text, config.answer_schema);
      return taskOutcome(execution, config, structured_output, {
        provider: completion.provider,
        model_name: completion.model,
        structured_output,
        raw_output: firstBytes(completion.text),
        usage,
      });
    } catch (thrown) {
      if (!(thrown instanceof LlmError)) throw thrown;
      error = thrown.message;
      repair = [repairMessage({ attempt, of: config.attempts, error, answer: completion.text })];
    }
  }
  const times = config.attempts === 1 ? 'one attempt' : `${config.attempts} attempts`;
  throw new NodeFailure('llm_validation_error', `After ${times} the model gave no usable answer. ${error}`);
}

async function complete(
  { services, signal }: NodeExecution,
  { model, answer_schema, timeout_seconds }: TaskConfig,
  messages: Parameters<typeof services.llm.complete>[0]['messages'],
): Promise<Completion> {
  try {
    return await services.llm.complete({
      system: SYSTEM_CONTRACT,
      messages,
      signal,
      ...(model ? { model } : {}),
      ...(answer_schema ? { schema: answer_schema } : {}),
      ...(timeout_seconds ? { budget: { timeout_ms: timeout_seconds * 1_000 } } : {}),
    });
  } catch (thrown) {
    if (thrown instanceof LlmError) throw new NodeFailure(thrown.code, thrown.message, { cause: thrown });
    throw thrown;
  }
}

function structured(text: string, schema: Json | null): Json {
  const value = parseStrictObject(text);
  const [issue] = schema === null ? [] : answerIssues(schema, value);
  if (!issue) return value;
  const place = issue.path === '' ? 'the answer' : issue.path;
  throw new LlmError('llm_validation_error', `The answer does not fit answer_schema: ${place} ${issue.message}.`);
}

/** Not more than so many bytes, without half a character at the end. */
function firstBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_RAW_BYTES) return text;
  return new TextDecoder().decode(bytes.subarray(0, MAX_RAW_BYTES), { stream: true });
}
