/** What a route answers, ready to be sent. */
export interface Answer {
  status: number;
  contentType: string;
  bytes: Buffer;
}

const INDEX_HTML =
  '<!doctype html>\n<html lang="en">\n<head><title>Flowise - Build AI Agents, Visually</title></head>\n<body><div id="root"></div></body>\n</html>\n';

export function json(value: unknown, status = 200): Answer {
  return { status, contentType: 'application/json; charset=utf-8', bytes: Buffer.from(JSON.stringify(value)) };
}

export function plain(text: string, status = 200): Answer {
  return { status, contentType: 'text/html; charset=utf-8', bytes: Buffer.from(text) };
}

/** What no route takes gets the page of the interface, with a success. */
export function indexPage(): Answer {
  return { status: 200, contentType: 'text/html; charset=UTF-8', bytes: Buffer.from(INDEX_HTML) };
}

/** Handlers' own envelope; `stack` is empty outside development. */
export function failure(status: number, message: string): Answer {
  return json({ statusCode: status, success: false, message, stack: {} }, status);
}

/** Thrown by handlers. */
export class Refusal extends Error {
  readonly answer: Answer;

  constructor(status: number, message: string) {
    super(message);
    this.answer = failure(status, message);
  }
}
