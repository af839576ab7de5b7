import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'vitest';

/** An answer of the hub, whichever way it was asked. */
export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed JSON; empty when the answer is something else. */
  body: Record<string, unknown>;
}

export interface Question {
  method?: string;
  token?: string | undefined;
  headers?: Record<string, string | string[]>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  raw?: string | Buffer;
}

/** Asks with node:http, which sends any Host, Origin and path as given. */
export function ask(hub: { url: string }, path: string, question: Question = {}): Promise<Reply> {
  const { hostname, port } = new URL(hub.url);
  const body = question.json === undefined ? question.raw : JSON.stringify(question.json);
  const headers: Record<string, string | string[]> = {};
  if (question.token !== undefined) headers.authorization = `Bearer ${question.token}`;
  if (question.json !== undefined) headers['content-type'] = 'application/json';
  Object.assign(headers, question.headers);
  if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body));
  return new Promise((answer, fail) => {
    const outgoing = request({ host: hostname, port, path, method: question.method ?? 'GET', headers }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      incoming.once('end', () =>
        answer({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, body: parsed(text) }),
      );
    });
    outgoing.once('error', fail);
    outgoing.end(body);
  });
}

/** Writes bytes to the hub's socket and reads until it closes. */
export function speak(hub: { url: string }, bytes: string | Buffer): Promise<Reply> {
  const { hostname, port } = new URL(hub.url);
  return new Promise((answer, fail) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(10_000, () => socket.destroy(new Error('the hub neither answered nor closed')));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('error', fail);
    socket.once('close', () => {
      const [head = '', ...rest] = Buffer.concat(chunks).toString('utf8').split('\r\n\r\n');
      const [start = '', ...lines] = head.split('\r\n');
      const fields = lines.map((line) => line.split(/:\s*/, 2) as [string, string]);
      const headers = Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]));
      const text = rest.join('\r\n\r\n');
      answer({ status: Number(start.split(' ')[1] ?? 0), headers, text, body: parsed(text) });
    });
  });
}

/** A coded envelope that a person can read and support can find. */
export function expectRefusal(reply: Reply, status: number, code: string): void {
  expect(reply, reply.text.slice(0, 500)).toMatchObject({ status, body: { code } });
  expectEnvelope(reply);
}

export function expectEnvelope({ text, body, headers }: Reply): void {
  expect(Object.keys(body).sort(), text.slice(0, 500)).toEqual(
    expect.arrayContaining(['code', 'details', 'error', 'message', 'request_id']),
  );
  expect(body.error).toBe(body.message);
  expect(body.message).toMatch(/^\S+ .*\.$/s);
  expect(body.request_id).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
  expect(headers['content-type']).toMatch(/^application\/json/);
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
