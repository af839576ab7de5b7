import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request as it came. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** How one request is answered, well or badly. */
export type Manner = (received: Received, response: ServerResponse, socket: Socket) => void;

/** A real HTTP server that answers as it is told, and counts. */
export interface RudeServer {
  url: string;
  port: number;
  received: Received[];
  /** Connections that were ever opened. */
  connections(): number;
  /** Bytes of bodies that were handed to the system. */
  sent(): number;
  /** Answers that path, without its query; every other one is 404. */
  on(path: string, ...manners: Manner[]): void;
  close(): Promise<void>;
}

const MEGABYTE = 1_048_576;

export async function startRudeServer(): Promise<RudeServer> {
  const received: Received[] = [];
  const manners = new Map<string, Manner[]>();
  const sockets = new Set<Socket>();
  let connections = 0;
  let sentBefore = 0;
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const one = { method: request.method ?? '', path, headers: request.headers, body: await textOf(request) };
    received.push(one);
    const queue = manners.get(path.replace(/\?.*$/, '')) ?? [];
    // The last manner stays.
    const manner = (queue.length > 1 ? queue.shift() : queue[0]) ?? json({ message: 'no manner for that' }, 404);
    manner(one, response, request.socket);
  });
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      sentBefore += socket.bytesWritten;
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    connections: () => connections,
    sent: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, sentBefore),
    on: (path, ...some) => void manners.set(path, some),
    close: () => {
      const closed = new Promise<void>((done) => server.close(() => done()));
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

export function json(value: unknown, status = 200): Manner {
  return raw(JSON.stringify(value), 'application/json; charset=utf-8', status);
}

export function raw(text: string, type: string, status = 200, headers: Record<string, string> = {}): Manner {
  return (_, response) => void response.writeHead(status, { 'content-type': type, ...headers }).end(text);
}

export function html(status = 200): Manner {
  return raw('<!doctype html><html><head><title>A page</title></head></html>', 'text/html; charset=utf-8', status);
}

export function redirect(location: string, status = 302): Manner {
  return raw('', 'text/plain', status, { location });
}

/** The envelope of Flowise's own handlers. */
export function flowiseError(statusCode: number, message: string): Manner {
  return json({ statusCode, success: false, message, stack: {} }, statusCode);
}

/** Takes the request and never says anything. */
export const hang: Manner = () => {};

/** Closes the connection instead of answering. */
export const hangUp: Manner = (_, __, socket) => void socket.destroy();

/** Announces more than it sends, then hangs up. */
export const half: Manner = (_, response, socket) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('[{"name":"ha', () => socket.destroy());
};

/** Something that is no HTTP at all. */
export const babble: Manner = (_, __, socket) => void socket.end('EHLO this is mail\r\n\r\n');

/** A character now and then, for ever. */
export const drip: Manner = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 50);
  response.once('close', () => clearInterval(timer));
};

/** So many megabytes, as fast as they are taken; the length is not announced. */
export function flood(megabytes: number): Manner {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const chunk = Buffer.alloc(MEGABYTE, 0x20);
    let left = megabytes;
    const pour = (): void => {
      while (left > 0 && !response.destroyed) {
        left -= 1;
        if (!response.write(chunk)) {
          response.once('drain', pour);
          return;
        }
      }
      response.end();
    };
    pour();
  };
}

/** As `flood`, with the length in front. */
export function announcedFlood(megabytes: number): Manner {
  return (_, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': String(megabytes * MEGABYTE),
    });
    response.flushHeaders();
  };
}
