import type * as z from 'zod';
import { cut } from '../kernel/cut.ts';
import { FlowrightError } from '../kernel/errors.ts';
import { issuesOf } from './issues.ts';
import { failure, type Telling, type ToolResult, toToolResult } from './tool-result.ts';

/** What whoever watches is told: a call begins, a call is over. */
export type ToolEvent = { type: 'tool_call'; name: string } | { type: 'tool_result'; name: string; preview: string };

export interface RunOptions extends Telling {
  emit?: ((event: ToolEvent) => void) | undefined;
}

/** A tool as it is called: its arguments have been checked, it may answer at once or later. */
export type ToolFunction = (args: never) => unknown;

const PREVIEW_CHARS = 200;

/**
 * Runs a tool. It never throws: an unknown tool, wrong arguments and whatever the tool throws are results that say so.
 * Arguments are judged by the schema before the call, so that a mistake inside the tool is never taken for one of them.
 */
export async function runTool(
  name: string,
  tool: ToolFunction | undefined,
  args: unknown,
  schema?: z.ZodType,
  { emit, ...telling }: RunOptions = {},
): Promise<ToolResult> {
  tellWatcher(emit, { type: 'tool_call', name });
  const result = await attempt(name, tool, args, schema, telling);
  tellWatcher(emit, { type: 'tool_result', name, preview: cut(result.summary, PREVIEW_CHARS) });
  return result;
}

async function attempt(
  name: string,
  tool: ToolFunction | undefined,
  args: unknown,
  schema: z.ZodType | undefined,
  telling: Telling,
): Promise<ToolResult> {
  if (tool === undefined) return failure(name, { type: 'UnknownTool', message: 'there is no tool of this name' });
  try {
    const parsed = schema ? await schema.safeParseAsync(args) : undefined;
    if (parsed && !parsed.success) return wrongArguments(name, parsed.error);
    return toToolResult(name, await tool((parsed ? parsed.data : args) as never), telling);
  } catch (thrown) {
    return thrownResult(name, thrown);
  }
}

function wrongArguments(name: string, error: z.ZodError): ToolResult {
  const issues = issuesOf(error);
  const places = issues.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
  const result = failure(name, {
    type: 'WrongArguments',
    message: `Wrong arguments for ${name}: ${places}`,
    detail: issues,
  });
  return { ...result, summary: result.error?.message ?? result.summary };
}

function thrownResult(name: string, thrown: unknown): ToolResult {
  if (thrown instanceof FlowrightError) {
    const { message, code, details } = thrown;
    // Where another server refused, its own words are kept in the details.
    const body = typeof details.message === 'string' && details.message !== '' ? details.message : undefined;
    return failure(name, { type: thrown.name, message, body, detail: { code, ...details } });
  }
  if (thrown instanceof Error) return failure(name, { type: typeOf(thrown), message: safeText(thrown.message) });
  return failure(name, { type: 'Error', message: safeText(thrown) });
}

/** The class of the error; a library may have renamed it. */
function typeOf(error: Error): string {
  const type: unknown = error.constructor?.name;
  return typeof type === 'string' && type !== '' ? type : error.name;
}

function safeText(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'something that has no text was thrown';
  }
}

/** A watcher that fails is no reason for the tool to. */
function tellWatcher(emit: RunOptions['emit'], event: ToolEvent): void {
  try {
    emit?.(event);
  } catch {
    // Whoever watches has to mend this; the call goes on.
  }
}
