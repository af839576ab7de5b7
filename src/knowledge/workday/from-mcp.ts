import { ERRORS, refusal } from '../../kernel/errors.ts';
import { hideUrlPassword } from '../../kernel/secrets.ts';
import { MAX_ACTIONS, type WorkdayAction, workdayAction } from './action.ts';

export interface McpSource {
  url: string;
  token: string | null;
  timeoutMs: number;
}

const MAX_PAGES = 100;
const MAX_BYTES = 20_000_000;

/**
 * The tools of an MCP server, by tools/list. Bounded in time, pages, number and bytes: a server that goes on for ever
 * is given up.
 */
export async function actionsFromMcp({ url, token, timeoutMs }: McpSource): Promise<WorkdayAction[]> {
  // Dear to load, and most commands never need it.
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'flowright', version: '1.0.0' }, { listMaxPages: MAX_PAGES });
  const signal = AbortSignal.timeout(timeoutMs);
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch(signal),
    requestInit: { headers: token === null ? {} : { authorization: `Bearer ${token}` } },
  });
  try {
    await client.connect(transport, { signal, timeout: timeoutMs });
    // Asked without a cursor, the client walks all pages.
    const { tools } = await client.listTools({}, { signal, timeout: timeoutMs });
    if (tools.length > MAX_ACTIONS) throw new Error(`it lists more than ${MAX_ACTIONS} tools`);
    const actions = tools.map(({ name, description, inputSchema, outputSchema }) =>
      workdayAction({ action: name, description, input_schema: inputSchema, output_schema: outputSchema }),
    );
    return [...new Map(actions.map((action) => [action.action, action])).values()];
  } catch (thrown) {
    const reason = signal.aborted ? `no answer within ${timeoutMs / 1_000} seconds` : reasonOf(thrown, token);
    const message = `The MCP server of workday_mcp_url, ${hideUrlPassword(url)}, cannot be read: ${reason}.`;
    throw refusal('CONFIG_INVALID', `${message} ${ERRORS.CONFIG_INVALID.next}`, { setting: 'workday_mcp_url' });
  } finally {
    await client.close().catch(() => {});
  }
}

/** Stops reading once all answers together are larger than any list of tools. */
function boundedFetch(signal: AbortSignal) {
  let bytes = 0;
  return async (address: string | URL, init?: RequestInit): Promise<Response> => {
    const signals = init?.signal ? [signal, init.signal] : [signal];
    const response = await fetch(address, { ...init, signal: AbortSignal.any(signals) });
    if (!response.body) return response;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          bytes += chunk.byteLength;
          if (bytes > MAX_BYTES) controller.error(new Error('its answers are too large'));
          else controller.enqueue(chunk);
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(counted, { status, statusText, headers });
  };
}

const MAX_REASON = 200;

/** What the server says may quote the token. */
function reasonOf(thrown: unknown, token: string | null): string {
  let code: string | undefined;
  for (let cause = thrown as (Error & { code?: unknown }) | undefined; cause; cause = cause.cause as typeof cause) {
    if (typeof cause.code === 'string' && /^E[A-Z]+$/.test(cause.code)) code = cause.code;
  }
  const words = code ?? ((thrown as Error | undefined)?.message ?? '').split('\n', 1)[0] ?? '';
  const safe = token === null ? words : words.replaceAll(token, '[secret]');
  return safe.slice(0, MAX_REASON).replace(/\.$/, '') || 'no reason was given';
}
