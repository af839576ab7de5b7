// The reference: a Fastify with the hub's plugins and one route that sends bytes it was given. Nothing can be faster.
import { readFileSync } from 'node:fs';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';

const bytes = readFileSync(process.argv[2]);
const server = Fastify({ logger: false });
await server.register(helmet);
await server.register(rateLimit, { max: 100_000_000, timeWindow: 60_000, hook: 'preHandler' });
server.get('/constant', (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
await server.listen({ host: '127.0.0.1', port: 0 });
console.log(`listening on http://127.0.0.1:${server.server.address().port}`);
process.once('SIGTERM', () => server.close());
