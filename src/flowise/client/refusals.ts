import { ERRORS, type ErrorCode, FlowrightError } from '../../kernel/errors.ts';
import type { FlowiseAuth } from './authentication.ts';
import { permissionFor } from './permissions.ts';
import { quotable } from './redact.ts';
import { isFromFlowise, isHtml, serverWords } from './server-words.ts';
import type { Answer, Failure } from './transport.ts';

/** What was asked, for whoever reads the error. */
export interface Asked {
  server: string;
  url: string;
  auth: FlowiseAuth['kind'];
  /** Hidden wherever the server quotes them. */
  secrets: readonly string[];
  method: string;
  /** Below /api/v1. */
  route: string;
  chatflowType?: string | undefined;
}

/** There is no answer. */
export function failureRefusal(asked: Asked, failure: Failure): FlowrightError {
  const subject = `Flowise server ${asked.server} (${asked.url})`;
  const { tries = 1, waitedMs = 0, maxBytes } = failure;
  const details = {
    message: failure.reason,
    may_have_arrived: failure.mayHaveArrived,
    ...(tries > 1 ? { tries } : {}),
  };
  const say = (code: ErrorCode, sentence: string) => refuse(asked, code, `${subject} ${sentence}`, details);
  switch (failure.kind) {
    case 'timeout':
      return say('FLOWISE_TIMEOUT', `takes too long: ${failure.reason}${repeated(tries, waitedMs)}.`);
    case 'too_large': {
      const sentence = `${subject} answers ${place(asked)} with too much: ${failure.reason}, and no more is read at once.`;
      return refuse(asked, 'FLOWISE_BAD_ANSWER', sentence, { ...details, max_bytes: maxBytes }, smaller(asked));
    }
    case 'not_http':
      return say('FLOWISE_BAD_ANSWER', `does not answer ${place(asked)} properly: ${failure.reason}.`);
    case 'unreachable':
    case 'broken':
    case 'closed':
      return say('FLOWISE_UNREACHABLE', `cannot be reached: ${failure.reason}.`);
  }
}

function repeated(tries: number, waitedMs: number): string {
  return tries > 1 ? `; asked ${tries} times, ${Math.round(waitedMs / 1_000)} s in all` : '';
}

function smaller({ route }: Asked): string {
  if (/^\/chatflows\/./.test(route)) return HOLDS_FILES;
  return `Where Flowise has too much there, remove what is not needed. ${ERRORS.FLOWISE_BAD_ANSWER.next}`;
}

const HOLDS_FILES = 'Make that chatflow smaller in Flowise; what is so large is mostly a file inside it.';

/** The server sends more than is read at once. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof FlowrightError && error.details.max_bytes !== undefined;
}

/** A page of a single chatflow is too large. */
export function oneTooLarge(asked: Asked, position: number): FlowrightError {
  const sentence = `Flowise server ${asked.server} (${asked.url}) answers ${place(asked)} with too much, even for one chatflow a page.`;
  const next = `Either chatflow ${position} of its list, newest first, is that large, or this is Flowise 2, which sends all of them at once. ${HOLDS_FILES} With Flowise 2, name the chatflow you mean by its id.`;
  const details = { status: null, message: 'one chatflow is larger than what is read at once', position };
  return refuse(asked, 'FLOWISE_BAD_ANSWER', sentence, details, next);
}

/** There is an answer, and it is no success. */
export function answerRefusal(asked: Asked, answer: Answer): FlowrightError {
  const { status } = answer;
  const words = quotable(serverWords(answer), asked.secrets);
  const subject = `Flowise server ${asked.server} (${asked.url})`;
  const say = (code: ErrorCode, sentence: string, more: Record<string, unknown> = {}) =>
    refuse(asked, code, `${subject} ${sentence}`, { status, message: words, ...more });
  if (status >= 300 && status < 400) {
    const target = quotable(withoutSecrets(answer.location, asked.url), asked.secrets);
    const sentence = `sends ${place(asked)} elsewhere (${target}). Redirects are not followed, because the key would go along: add the server with the address that it is meant to have.`;
    return say('FLOWISE_BAD_ANSWER', sentence, { message: `redirect to ${target}` });
  }
  if (status === 401) return say('FLOWISE_UNAUTHORIZED', unauthorised(asked));
  if (status === 403) {
    const permission = permissionFor(asked.method, asked.route, asked.chatflowType);
    const lacking = permission ? `the API key lacks the permission ${permission}` : words;
    return say('FLOWISE_FORBIDDEN', `refuses ${place(asked)}: ${lacking}.`, permission ? { permission } : {});
  }
  if (status === 502 || status === 503 || status === 504) {
    return say('FLOWISE_UNREACHABLE', `cannot be reached: what stands before it answers ${status}.`);
  }
  if (status === 404 && isHtml(answer.contentType, answer.text)) return notAnApi(asked, answer);
  if (status === 404 && isFromFlowise(answer)) {
    return say('FLOWISE_NOT_FOUND', `does not have ${place(asked)}: ${words}.`);
  }
  if (status === 404) {
    return say('FLOWISE_BAD_ANSWER', `answers ${place(asked)} with 404, and not as Flowise says it: ${words}.`);
  }
  return say('FLOWISE_REFUSED', `refuses ${place(asked)} with ${status}: ${words}.`);
}

/** A page where data is due: Flowise shows its own page, with 200, for every route that it does not know. */
export function notAnApi(asked: Asked, { status }: Answer): FlowrightError {
  return refuse(
    asked,
    'FLOWISE_BAD_ANSWER',
    `Flowise server ${asked.server} (${asked.url}) answers ${place(asked)} with a web page: it does not know that route, or the address is not that of Flowise's API.`,
    { status, message: 'a web page instead of data' },
  );
}

export function badAnswer(asked: Asked, status: number, problem: string): FlowrightError {
  return refuse(
    asked,
    'FLOWISE_BAD_ANSWER',
    `Flowise server ${asked.server} (${asked.url}) answers ${place(asked)} with what it should not: ${problem}.`,
    { status, message: problem },
  );
}

export function notFound(asked: Asked, what: string, status: number | null = null): FlowrightError {
  return refuse(asked, 'FLOWISE_NOT_FOUND', `Flowise server ${asked.server} has no ${what}.`, {
    status,
    message: 'not found',
  });
}

function refuse(
  asked: Asked,
  code: ErrorCode,
  sentence: string,
  more: Record<string, unknown>,
  next: string = ERRORS[code].next,
): FlowrightError {
  const { server, method, route } = asked;
  const details = { server, method, path: `/api/v1${route}`, status: null, ...more };
  return new FlowrightError(code, `${sentence} ${next}`, { details });
}

function place({ method, route }: Asked): string {
  return `${method} /api/v1${route}`;
}

function unauthorised({ auth }: Asked): string {
  switch (auth) {
    case 'key':
      return 'does not accept the API key.';
    case 'basic':
      return 'does not accept the user name and password. Flowise 3 takes API keys only.';
    case 'none':
      return 'wants to know who asks: it needs an API key.';
  }
}

/** Of an address only what tells where to go. */
function withoutSecrets(location: string | null, base: string): string {
  try {
    const { origin, pathname } = new URL(location ?? '', base);
    return origin + pathname;
  } catch {
    return 'an address that cannot be read';
  }
}
