import * as z from 'zod';
import { defineOperation } from '../operations/index.ts';

const health = defineOperation({
  name: 'health.show',
  summary: 'Is the hub alive',
  input: z.strictObject({}),
  output: z.strictObject({ ok: z.literal(true) }).meta({ id: 'HealthResponse' }),
  access: { public: true },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/health', tag: 'Hub' },
  handle: () => ({ ok: true as const }),
});

export const operations = [health];
