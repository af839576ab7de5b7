import { ERRORS, type ErrorCode, FlowrightError, refusal } from '../../kernel/errors.ts';
import { hideUrlPassword } from '../../kernel/secrets.ts';
import {
  type AnyOperation,
  assertShallow,
  type ErrorEnvelope,
  type HttpRoute,
  routesOf,
} from '../../operations/index.ts';
import type { Cli } from './run.ts';

/** A hub that asks a Flowise server on our behalf may itself have to wait. */
const TIMEOUT_MS = 120_000;

/** Sends the operation to a hub; the answer's text is passed on as it came. */
export async function callHub(operation: AnyOperation, input: Record<string, unknown>, cli: Cli): Promise<string> {
  const { config, origins } = cli.settings();
  // The hub would refuse it; writing it as JSON would not even come that far.
  assertShallow(input, operation.name);
  const { url, init } = requestFor(operation, input, config.hub_url as string);
  const headers: Record<string, string> = { accept: 'application/json', 'x-request-id': cli.requestId() };
  if (config.hub_token) headers.authorization = `Bearer ${config.hub_token}`;
  if (origins.vault !== 'default') headers['x-vault-id'] = config.vault;
  if (init.body !== undefined) headers['content-type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
    // The message of a failed request may quote its headers, and so the token; the code says enough.
    const reason = cause?.code ?? (error as Error).name;
    throw refusal(
      'HUB_UNREACHABLE',
      `The hub at ${hideUrlPassword(config.hub_url as string)} does not answer (${reason}). ${ERRORS.HUB_UNREACHABLE.next}`,
    );
  }
  const text = await response.text();
  if (response.ok && response.headers.get('content-type')?.startsWith('application/json')) return text;
  throw refusalFrom(text, response.status);
}

/** Of several routes, the one whose path this input fills. */
function hasParameters(route: HttpRoute, input: Record<string, unknown>): boolean {
  const parameters = [...route.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => route.rename?.[name] ?? name);
  return parameters.every((key) => input[key] !== undefined);
}

function requestFor(operation: AnyOperation, input: Record<string, unknown>, hub: string) {
  const routes = routesOf(operation);
  const route = routes.find((candidate) => hasParameters(candidate, input)) ?? routes[0];
  if (!route) throw new Error(`${operation.name} has no route`);
  const rest = { ...input };
  const path = route.path.replace(/\{([^}]+)\}/g, (_, parameter: string) => {
    const key = route.rename?.[parameter] ?? parameter;
    const value = rest[key];
    delete rest[key];
    return encodeURIComponent(String(value));
  });
  const url = new URL(path, hub);
  const init: { method: string; body?: string } = { method: route.method };
  if (route.method === 'GET' || route.method === 'DELETE') {
    for (const [key, value] of Object.entries(rest)) url.searchParams.set(key, String(value));
  } else {
    init.body = JSON.stringify(rest);
  }
  return { url, init };
}

function refusalFrom(text: string, status: number): FlowrightError {
  try {
    const { code, message, details } = JSON.parse(text) as ErrorEnvelope;
    if (Object.hasOwn(ERRORS, code)) return new FlowrightError(code as ErrorCode, message, { details });
  } catch {
    // Not one of our answers; said below.
  }
  return refusal(
    'HUB_UNREACHABLE',
    `The address answered ${status}, but not as a Flowright hub. Check the hub address.`,
  );
}
