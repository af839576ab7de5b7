import { FlowrightError, refusal } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { ADDRESS_RULE, readAddress } from './address.ts';
import type { FlowiseAuth } from './authentication.ts';
import { countInPages, type PageAsker, readInPages } from './chatflow-pages.ts';
import type { ApiNode, FlowiseClient, Prediction } from './client.ts';
import { badAnswer, isTooLarge, notFound, oneTooLarge } from './refusals.ts';
import { createRequests, type Request, type RequestNote, type Requests } from './requests.ts';
import { isFromFlowise, serverWords } from './server-words.ts';
import {
  fieldsOf,
  readChatflow,
  readCredential,
  readList,
  readNode,
  readPage,
  readTemplate,
  readTool,
  readVariable,
} from './shapes.ts';
import type { Answer } from './transport.ts';
import { isPastTheGuard, trialRequest } from './write-trials.ts';

const MAX_BYTES = 32 * 1_048_576;
/** All chatflows of a server together may be so many times as large as one answer. */
const LIST_FACTOR = 8;
const RETRY_DELAY_MS = 100;
/** A prediction waits for a model, filling a vector store for many of its answers. */
const SLOW_FACTOR = 4;

export interface ClientOptions {
  /** Name of the server, for messages. */
  server: string;
  /** With or without /api/v1; a name and password in it are used when `auth` is of kind none. */
  url: string;
  auth: FlowiseAuth;
  timeoutSeconds: number;
  log?: Log;
  /** Largest answer. */
  maxBytes?: number;
  retryDelayMs?: number;
  /** Told of every request that was made. */
  onRequest?(request: RequestNote): void;
}

/** Opens no connection until the first question. */
export function createClient(options: ClientOptions): FlowiseClient {
  const { server } = options;
  const address = readAddress(options.url);
  if (!address) throw refusal('CONFIG_INVALID', `The address of Flowise server ${server} ${ADDRESS_RULE}.`);
  const { username, password = '' } = address;
  const maxBytes = options.maxBytes ?? MAX_BYTES;
  const isInAddress = options.auth.kind === 'none' && username !== undefined;
  const requests = createRequests({
    server,
    address,
    auth: isInAddress ? { kind: 'basic', username, password } : options.auth,
    timeoutMs: options.timeoutSeconds * 1_000,
    maxBytes,
    retryDelayMs: options.retryDelayMs ?? RETRY_DELAY_MS,
    log: options.log,
    onRequest: options.onRequest,
  });
  return clientOver(requests, {
    server,
    url: address.url,
    slowMs: options.timeoutSeconds * 1_000 * SLOW_FACTOR,
    maxChars: maxBytes * LIST_FACTOR,
  });
}

interface Place {
  server: string;
  url: string;
  slowMs: number;
  /** Of all chatflows together. */
  maxChars: number;
}

function clientOver(requests: Requests, { server, url, slowMs, maxChars }: Place): FlowiseClient {
  const list = async <T>(route: string, read: (entry: unknown) => T | null) => {
    const request: Request = { method: 'GET', route };
    const entries = readList(await requests.json(request), read);
    if (typeof entries === 'string') throw badAnswer(requests.asked(request), 200, entries);
    return entries;
  };
  const one = async <T>(request: Request, read: (value: unknown) => T | null, what: string): Promise<T | undefined> => {
    const answer = await requests.json(request);
    if (answer === undefined) return undefined;
    const found = read(answer);
    if (found === null) throw badAnswer(requests.asked(request), 200, `${what} is due`);
    return found;
  };
  /** As `one`, where that it is missing is an error. */
  const present = async <T>(request: Request, read: (value: unknown) => T | null, what: string): Promise<T> => {
    const found = await one(request, read, what);
    if (found === undefined) throw notFound(requests.asked(request), `${what} of that id`);
    return found;
  };
  /** A place below a route, for an id that can be one; any other is missing without a question. */
  const below = (method: Request['method'], route: string, id: string): Request => {
    const request: Request = { method, route: `${route}/${encodeURIComponent(id)}`, isMissing: saysMissing(id) };
    if (!isPlausibleId(id)) throw notFound(requests.asked({ method, route }), 'thing of that id');
    return request;
  };
  const chatflowPages = (filter: Record<string, string>): PageAsker => {
    const route = '/chatflows';
    const asked = requests.asked({ method: 'GET', route });
    return {
      maxChars,
      ask: async (number, limit) => {
        const query = { ...filter, page: String(number), limit: String(limit) };
        const answer = await requests.json({ method: 'GET', route, query }).catch((error: unknown) => {
          if (isTooLarge(error)) return null;
          throw error;
        });
        if (answer === null) return null;
        const page = readPage(answer, readChatflow);
        if (typeof page === 'string') throw badAnswer(asked, 200, page);
        return page;
      },
      tooLarge: (position) => oneTooLarge(asked, position),
      refuse: (problem) => badAnswer(asked, 200, problem),
    };
  };
  const remove = async (route: string, id: string): Promise<boolean> => {
    const answer = fieldsOf(await requests.json(below('DELETE', route, id)));
    return answer !== null && answer.affected !== 0;
  };

  const client: FlowiseClient = {
    server,
    url,
    ping: async (signal) => {
      const request: Request = { method: 'GET', route: '/ping', signal };
      const text = await requests.text(request);
      if (text.trim() !== 'pong') throw badAnswer(requests.asked(request), 200, 'pong is due');
    },
    version: async () => {
      try {
        const answer = fieldsOf(await requests.json({ method: 'GET', route: '/version' }));
        const version = answer?.version;
        return typeof version === 'string' && /^[\w.+-]{1,64}$/.test(version) ? version : null;
      } catch (error) {
        if (error instanceof FlowrightError) return null;
        throw error;
      }
    },
    listNodes: () => list('/nodes', readNode),
    getNode: async (name) => {
      if (!isPlausibleId(name)) return null;
      return (await one<ApiNode>(below('GET', '/nodes', name), readNode, 'a node')) ?? null;
    },
    listTemplates: () => list('/marketplaces/templates', readTemplate),
    listCredentials: () => list('/credentials', readCredential),
    listChatflows: (query) => readInPages(chatflowPages(query?.type ? { type: query.type } : {})),
    countChatflows: () => countInPages(chatflowPages({})),
    getChatflow: async (id) => {
      if (!isPlausibleId(id)) return null;
      return (await one(below('GET', '/chatflows', id), readChatflow, 'a chatflow')) ?? null;
    },
    createChatflow: (body) =>
      present({ method: 'POST', route: '/chatflows', body, chatflowType: body.type }, readChatflow, 'a chatflow'),
    updateChatflow: async (id, body) =>
      present({ ...below('PUT', '/chatflows', id), body, chatflowType: body.type }, readChatflow, 'a chatflow'),
    deleteChatflow: async (id) => {
      if (!isPlausibleId(id)) return false;
      try {
        return await remove('/chatflows', id);
      } catch (error) {
        // Flowise answers 500 for one that it does not have, in words that differ by version: so look.
        if (error instanceof FlowrightError && error.code === 'FLOWISE_REFUSED' && error.details.status === 500) {
          if ((await client.getChatflow(id)) === null) return false;
        }
        throw error;
      }
    },
    listTools: () => list('/tools', readTool),
    createTool: (body) => present({ method: 'POST', route: '/tools', body }, readTool, 'a tool'),
    deleteTool: async (id) => isPlausibleId(id) && remove('/tools', id),
    listVariables: () => list('/variables', readVariable),
    tryWrite: async (what) => {
      const request: Request = { ...trialRequest(what), isMissing: isPastTheGuard };
      const answer = await requests.json(request);
      // Some versions answer that they removed nothing.
      if (answer === undefined || (request.method === 'DELETE' && fieldsOf(answer)?.affected === 0)) return;
      const asked = requests.asked(request);
      throw badAnswer(asked, 200, 'it accepts what Flowise refuses; look there for something without a name');
    },
    predict: async (id, body) =>
      present(
        { ...below('POST', '/prediction', id), body: { ...body, streaming: false }, timeoutMs: slowMs },
        readPrediction,
        'a chatflow',
      ),
    upsertVector: async (id, body = {}) =>
      present({ ...below('POST', '/vector/upsert', id), body, timeoutMs: slowMs }, fieldsOf, 'a chatflow'),
    close: (graceMs) => requests.close(graceMs),
  };
  return client;
}

/** Some flows answer with a bare text. */
function readPrediction(value: unknown): Prediction | null {
  return typeof value === 'string' ? { text: value } : fieldsOf(value);
}

/** An empty id or one of dots would be another route. */
function isPlausibleId(id: string): boolean {
  return id.length <= 200 && /^[^\s/\\?#%\p{Cc}]+$/u.test(id) && !/^\.+$/.test(id);
}

/**
 * Flowise says in three ways that it has no such thing: 404, 500 in which a 404 is wrapped, 400 for an id that is none.
 * What merely stands before Flowise also answers 404, and must not make anybody believe that a chatflow is gone: so the
 * answer comes in Flowise's own envelope, or in its own words.
 */
function saysMissing(id: string): (answer: Answer) => boolean {
  return (answer) => {
    const words = serverWords(answer);
    const isItsWords = /\b(?:chatflow|node|tool) /i.test(words) && words.includes(` ${id} not found`);
    if (answer.status === 404) return isFromFlowise(answer) || isItsWords;
    if (answer.status === 400) return isFromFlowise(answer) && /invalid.*\bid\b/i.test(words);
    return answer.status === 500 && isItsWords;
  };
}
