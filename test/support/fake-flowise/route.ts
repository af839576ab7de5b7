import type { ApiNode } from '../../../src/flowise/client/client.ts';
import type { Answer } from './answers.ts';
import type { RecordedCredentialType, RecordedTemplate } from './data.ts';
import type { Rows } from './rows.ts';

export type FlowiseVersion = '3.1.4' | '2.2.8';

/** What the handlers know. */
export interface World {
  version: FlowiseVersion;
  rows: Rows;
  nodes: ApiNode[];
  nodeByName: Map<string, ApiNode>;
  templates: RecordedTemplate[];
  credentialTypes: RecordedCredentialType[];
  /** What the model of a flow says, from the question and how many messages it was shown. */
  say(question: string, messages: number): string;
}

export interface Call {
  params: Record<string, string>;
  query: URLSearchParams;
  body: Record<string, unknown>;
  /** The caller showed the key. */
  keyed: boolean;
}

export interface Route {
  method: string;
  /** Below /api/v1. */
  pattern: string;
  /** Public routes ask for nothing, `null` for a key of any permissions, a list for one of these. */
  access: 'public' | null | readonly string[];
  handle(call: Call, world: World): Answer;
}

export interface Match {
  route: Route;
  params: Record<string, string>;
}

export function matchRoute(routes: readonly Route[], method: string, path: string): Match | null {
  const parts = path.split('/');
  for (const route of routes) {
    if (route.method !== method) continue;
    const params = matchPattern(route.pattern.split('/'), parts);
    if (params) return { route, params };
  }
  return null;
}

function matchPattern(pattern: readonly string[], parts: readonly string[]): Record<string, string> | null {
  if (pattern.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [at, expected] of pattern.entries()) {
    const part = parts[at] ?? '';
    if (!expected.startsWith(':')) {
      if (expected !== part) return null;
    } else if (part === '') return null;
    else params[expected.slice(1)] = decodeURIComponent(part);
  }
  return params;
}
