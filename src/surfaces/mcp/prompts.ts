import type { GetPromptResult, ListPromptsResult, Prompt, Server } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { App } from '../../app.ts';
import { type Flow, flowStateId } from '../../flows/index.ts';
import { FlowrightError } from '../../kernel/errors.ts';
import { inertLine } from '../../kernel/terminal.ts';
import { flowIdOf, inertWords, projectFlow, promptValues, slugOf } from '../../projection/index.ts';
import { type ResolvePrincipal, refusingInMcp, servedPage } from './served-flows.ts';

/** Of one argument, in characters. */
const MAX_VALUE = 8_000;
const MAX_SHOWN_NAME = 100;

/** Every flow the caller may see, in its latest version, as a prompt named after it: flow_a_b is `a-b`. */
export function servePrompts(server: Server, app: App, resolve: ResolvePrincipal): void {
  server.registerCapabilities({ prompts: {} });
  server.setRequestHandler('prompts/list', (request) =>
    refusingInMcp(app, async (): Promise<ListPromptsResult> => {
      const { items, ...rest } = await servedPage(resolve, request.params?.cursor, (principal, input) =>
        app.services.flows.page(principal, input),
      );
      return { prompts: items.map(promptOf), ...rest };
    }),
  );
  server.setRequestHandler('prompts/get', (request) =>
    refusingInMcp(app, async (): Promise<GetPromptResult> => {
      const { name, arguments: given = {} } = request.params;
      const flow_id = flowIdOf(name);
      if (flow_id === null) throw unknownPrompt(name);
      const principal = await resolve(undefined);
      try {
        const { flow, steps } = await app.services.flows.get(principal, { flow_id });
        const values = promptValues(flow, valuesFor(flow, given));
        const texts = [projectFlow(flow, steps, 'mcp_prompt').rendered, ...(values === null ? [] : [values])];
        return {
          description: inertWords(flow.title),
          messages: texts.map((text) => ({ role: 'user', content: { type: 'text', text } })),
          _meta: { flow_id, version: flow.version, state_id: flowStateId(flow, steps) },
        };
      } catch (thrown) {
        throw thrown instanceof FlowrightError && thrown.code === 'unknown_flow' ? unknownPrompt(name) : thrown;
      }
    }),
  );
}

function promptOf(flow: Flow): Prompt {
  const inputs = [...new Map(flow.inputs.map((input) => [input.name, input])).values()];
  return {
    name: slugOf(flow.flow_id),
    title: inertWords(flow.title),
    description: inertWords(flow.summary) || inertWords(flow.title),
    ...(inputs.length > 0
      ? { arguments: inputs.map(({ name, type, required }) => ({ name, description: inertWords(type), required })) }
      : {}),
    _meta: { flow_id: flow.flow_id, version: flow.version },
  };
}

/** What was given for the declared inputs, in their order; anything else is refused rather than passed to a model. */
function valuesFor(flow: Flow, given: Record<string, string>): Map<string, string> {
  const values = new Map(Object.entries(given));
  const declared = new Set(flow.inputs.map(({ name }) => name));
  const stray = [...values.keys()].filter((name) => !declared.has(name));
  const missing = flow.inputs.filter(({ name, required }) => required && !values.has(name)).map(({ name }) => name);
  const long = [...values].filter(([, value]) => value.length > MAX_VALUE).map(([name]) => name);
  if (stray.length > 0) throw badArguments('has no argument', stray);
  if (missing.length > 0) throw badArguments('needs the argument', missing);
  if (long.length > 0) throw badArguments(`takes at most ${MAX_VALUE} characters for the argument`, long);
  return new Map([...declared].flatMap((name) => (values.has(name) ? [[name, values.get(name) as string]] : [])));
}

function badArguments(what: string, names: string[]): ProtocolError {
  const shown = names.slice(0, 10).map((name) => inertLine(name).slice(0, MAX_SHOWN_NAME));
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `The prompt ${what} ${shown.join(', ')}. prompts/list says what it takes.`,
  );
}

/** The same whether there is no such flow or the caller may not see it. */
function unknownPrompt(name: string): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no prompt ${inertLine(name).slice(0, MAX_SHOWN_NAME)} that you may use. Use prompts/list.`,
  );
}
