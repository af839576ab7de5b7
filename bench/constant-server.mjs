// The reference: a Fastify with the hub's plugin and headers and one route that sends bytes it was given.
import { readFileSync } from 'node:fs';
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';

const bytes = readFileSync(process.argv[2]);
const headers = JSON.parse(process.argv[3] ?? '{}');
const server = Fastify({ logger: false });
server.addHook('onRequest', (_request, reply, done) => {
  reply.headers(headers);
  done();
});
await server.register(rateLimit, { max: 100_000_000, timeWindow: 60_000, hook: 'preHandler' });
server.get('/constant', (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
await server.listen({ host: '127.0.0.1', port: 0 });
console.log(`listening on http://127.0.0.1:${server.server.address().port}`);
process.once('SIGTERM', () => server.close());
