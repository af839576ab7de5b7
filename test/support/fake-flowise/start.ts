import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ApiNode } from '../../../src/flowise/client/client.ts';
import { type AccessRules, keyOf, refuse } from './access.ts';
import { type Answer, failure, indexPage, json, Refusal } from './answers.ts';
import { catalogueRoutes } from './catalogue-routes.ts';
import { chatflowRoutes } from './chatflow-routes.ts';
import { type RecordedTemplate, recordedCredentialTypes, recordedNodes, recordedTemplates } from './data.ts';
import { type Fault, Faults, send, sendFaulty } from './faults.ts';
import { keepingRoutes } from './keeping-routes.ts';
import { predictionRoutes } from './prediction-routes.ts';
import { RequestLog } from './request-log.ts';
import { type FlowiseVersion, type Match, matchRoute, type Route, type World } from './route.ts';
import { Rows } from './rows.ts';

const ROUTES: readonly Route[] = [...catalogueRoutes, ...chatflowRoutes, ...keepingRoutes, ...predictionRoutes];
const API = '/api/v1';

export interface FakeFlowiseOptions {
  version?: FlowiseVersion;
  /** The recorded ones when left out. */
  nodes?: ApiNode[];
  templates?: RecordedTemplate[];
  apiKey?: string;
  /** What the key may do, such as chatflows:view; everything when left out. */
  permissions?: readonly string[];
  /** A user name and a password, which version 2 can ask for. */
  basic?: { username: string; password: string };
  credentials?: readonly {
    name: string;
    credentialName: string;
    id?: string;
    plainDataObj?: Record<string, unknown>;
  }[];
  tools?: readonly { name: string; description: string; color: string; id?: string; schema?: string; func?: string }[];
  variables?: readonly { name: string; type: string; value?: string }[];
  /** What the model of every flow says. */
  say?: (question: string, messages: number) => string;
  now?: () => Date;
  port?: number;
}

export interface FakeFlowise {
  /** Without /api/v1. */
  url: string;
  apiKey: string;
  version: FlowiseVersion;
  requests: RequestLog;
  /** The tables: read and change them behind everybody's back. */
  rows: Rows;
  /** The node types it knows; tests may take some away or add some. */
  world: World;
  /** From now on this goes wrong on the route, `GET /nodes/:name` for example; `*` is any method or route. */
  fault(method: string, route: string, fault: Fault): void;
  /** Nothing goes wrong any more. */
  heal(): void;
  /** What the key may do from now on; null is everything. */
  permit(permissions: readonly string[] | null): void;
  /** Another key, which may do only this. */
  addKey(permissions: readonly string[]): string;
  close(): Promise<void>;
}

function newKey(): string {
  return randomBytes(32).toString('base64url');
}

/** A Flowise without Flowise: a real HTTP server with the rules, the words and the quirks of the real one. */
export async function startFakeFlowise(options: FakeFlowiseOptions = {}): Promise<FakeFlowise> {
  const rows = new Rows(options.now ?? (() => new Date()));
  for (const credential of options.credentials ?? []) rows.addCredential(credential);
  for (const tool of options.tools ?? []) rows.addTool(tool);
  for (const variable of options.variables ?? []) rows.addVariable(variable);
  const nodes = options.nodes ?? recordedNodes();
  const world: World = {
    version: options.version ?? '3.1.4',
    rows,
    nodes,
    nodeByName: new Map(nodes.map((node) => [node.name, node])),
    templates: options.templates ?? recordedTemplates(),
    credentialTypes: recordedCredentialTypes(),
    say: options.say ?? ((question, messages) => `Heard as message ${messages}: ${question}`),
  };
  const apiKey = options.apiKey ?? newKey();
  const rules: AccessRules = {
    version: world.version,
    keys: new Map([[apiKey, options.permissions ?? null]]),
    basic: options.basic ?? null,
  };
  const requests = new RequestLog();
  const faults = new Faults();
  const server = createServer((request, response) => {
    void serve(request, response, { world, rules, requests, faults }).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey,
    version: world.version,
    requests,
    rows,
    world,
    fault: (method, route, fault) => faults.place(method, route, fault),
    heal: () => faults.clear(),
    permit: (permissions) => void rules.keys.set(apiKey, permissions),
    addKey: (permissions) => {
      const key = newKey();
      rules.keys.set(key, permissions);
      return key;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Serving {
  world: World;
  rules: AccessRules;
  requests: RequestLog;
  faults: Faults;
}

async function serve(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const { world, rules, requests, faults } = serving;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  const url = new URL(request.url ?? '/', 'http://fake');
  const method = request.method ?? 'GET';
  const inApi = url.pathname.startsWith(`${API}/`);
  const path = inApi ? url.pathname.slice(API.length) : url.pathname;
  const match = inApi ? matchRoute(ROUTES, method, path) : null;
  const route = match?.route.pattern ?? null;
  requests.add({ method, path, query: url.searchParams, route, headers: request.headers, body });
  const fault = faults.take(method, route, path);
  if (fault) await prepare(fault);
  if (fault && withoutEffect(fault)) {
    sendFaulty(response, fault, null);
    return;
  }
  const right = answer({ match, url, body, headers: request.headers, world, rules });
  if (fault) sendFaulty(response, fault, right);
  else send(response, right);
}

async function prepare(fault: Fault): Promise<void> {
  if (fault.delayMs) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
  if (fault.kind === 'wait') await fault.until;
  await fault.before?.();
}

function withoutEffect({ kind }: Fault): boolean {
  return kind === 'answer' || kind === 'hang' || kind === 'drop' || kind === 'flood';
}

interface Question {
  match: Match | null;
  url: URL;
  body: string;
  headers: IncomingMessage['headers'];
  world: World;
  rules: AccessRules;
}

function answer({ match, url, body, headers, world, rules }: Question): Answer {
  if (/^\/api\/v1\//i.test(url.pathname)) {
    // Its guard knows one spelling of the prefix alone and lets nobody through any other.
    if (!url.pathname.startsWith(`${API}/`)) return json({ error: 'Unauthorized Access' }, 401);
    const refused = refuse(rules, match?.route.access ?? null, headers);
    if (refused) return refused;
  }
  if (!match) return indexPage();
  const parsed = parseBody(body);
  if (typeof parsed === 'string') return failure(400, parsed);
  try {
    const call = { params: match.params, query: url.searchParams, body: parsed, keyed: rules.keys.has(keyOf(headers)) };
    return match.route.handle(call, world);
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    return failure(500, (error as Error).message);
  }
}

/** The body, or the engine's words when it is no JSON. */
function parseBody(body: string): Record<string, unknown> | string {
  try {
    return body === '' ? {} : (JSON.parse(body) as Record<string, unknown>);
  } catch (error) {
    return (error as Error).message;
  }
}
