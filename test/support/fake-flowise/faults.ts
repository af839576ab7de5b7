import type { ServerResponse } from 'node:http';
import type { Answer } from './answers.ts';

/**
 * What goes wrong on a route. The ones that end in `_after` let the request take effect first: that is the case of a
 * row that was saved although its writer never heard of it.
 */
export type Fault = {
  /** So many requests meet it; all of them when left out. */
  times?: number;
  /** Waits before anything else happens. */
  delayMs?: number;
  /** Runs before the request takes effect: what somebody else does in that moment. */
  before?: () => void | Promise<void>;
} & (
  | { kind: 'none' }
  | {
      kind: 'answer' | 'answer_after';
      status: number;
      body?: unknown;
      contentType?: string;
      headers?: Record<string, string>;
    }
  | { kind: 'hang' | 'hang_after' }
  | { kind: 'drop' | 'drop_after' }
  /** Announces an answer, sends the half of it and falls silent. */
  | { kind: 'stall' }
  /** The right answer, some bytes at a time. */
  | { kind: 'drip'; bytes: number; everyMs: number }
  /** A JSON string that goes on for so many bytes. */
  | { kind: 'flood'; bytes: number }
  /** The right answer after this was settled. */
  | { kind: 'wait'; until: Promise<unknown> }
  /** The answer that is right now, sent once this was settled: by then it may be old. */
  | { kind: 'held'; until: Promise<unknown> }
);

export interface PlacedFault {
  method: string;
  route: string;
  fault: Fault;
  left: number;
}

export class Faults {
  #placed: PlacedFault[] = [];

  place(method: string, route: string, fault: Fault): void {
    this.#placed.push({ method, route, fault, left: fault.times ?? Number.POSITIVE_INFINITY });
  }

  /** The first that is left for this request; `*` stands for any method or route. */
  take(method: string, route: string | null, path: string): Fault | null {
    const placed = this.#placed.find(
      (each) =>
        each.left > 0 &&
        (each.method === '*' || each.method === method) &&
        (each.route === '*' || each.route === route || each.route === path),
    );
    if (!placed) return null;
    placed.left -= 1;
    return placed.fault;
  }

  clear(): void {
    this.#placed = [];
  }
}

/** Sends what the fault makes of the right answer. */
export function sendFaulty(response: ServerResponse, fault: Fault, right: Answer | null): void {
  switch (fault.kind) {
    case 'hang':
    case 'hang_after':
      return;
    case 'drop':
    case 'drop_after':
      response.destroy();
      return;
    case 'answer':
    case 'answer_after':
      sendFixed(response, fault);
      return;
    case 'stall': {
      const bytes = right?.bytes ?? Buffer.from('{}');
      response.writeHead(right?.status ?? 200, { 'content-type': right?.contentType ?? 'application/json' });
      response.write(bytes.subarray(0, Math.max(1, bytes.length >> 1)));
      return;
    }
    case 'drip':
      drip(response, right ?? { status: 200, contentType: 'application/json', bytes: Buffer.from('{}') }, fault);
      return;
    case 'flood':
      flood(response, fault.bytes);
      return;
    case 'held':
      void fault.until.then(() => right && send(response, right));
      return;
    case 'none':
    case 'wait':
      if (right) send(response, right);
  }
}

export function send(response: ServerResponse, { status, contentType, bytes }: Answer): void {
  response.writeHead(status, { 'content-type': contentType, 'content-length': bytes.length });
  response.end(bytes);
}

function sendFixed(response: ServerResponse, fault: Extract<Fault, { status: number }>): void {
  const { status, body = '', headers = {} } = fault;
  const isText = typeof body === 'string';
  const contentType = fault.contentType ?? (isText ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8');
  response.writeHead(status, { 'content-type': contentType, ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

function drip(response: ServerResponse, right: Answer, { bytes, everyMs }: { bytes: number; everyMs: number }): void {
  let at = 0;
  response.writeHead(right.status, { 'content-type': right.contentType, 'content-length': right.bytes.length });
  const timer = setInterval(() => {
    response.write(right.bytes.subarray(at, at + bytes));
    at += bytes;
    if (at < right.bytes.length) return;
    clearInterval(timer);
    response.end();
  }, everyMs);
  response.once('close', () => clearInterval(timer));
}

function flood(response: ServerResponse, bytes: number): void {
  const chunk = Buffer.alloc(65_536, 'x');
  let left = bytes;
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
  response.write('[{"name":"');
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= chunk.length;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end('"}]');
  };
  more();
}
