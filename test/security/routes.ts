import type { HttpRoute } from '../../src/operations/index.ts';
import type { Question } from './rest.ts';

/** An input as a request to a route: path, query or body. */
export function requestTo(route: HttpRoute, input: Record<string, unknown>): Question & { path: string } {
  const rest = { ...input };
  const path = route.path.replace(/\{([^}]+)\}/g, (_, parameter: string) => {
    const key = route.rename?.[parameter] ?? parameter;
    const value = encodeURIComponent(String(rest[key]));
    delete rest[key];
    return value;
  });
  const { method } = route;
  if (method !== 'GET' && method !== 'DELETE') return { method, path, json: rest };
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(rest)) query.set(key, String(value));
  return { method, path: query.size === 0 ? path : `${path}?${query}` };
}
