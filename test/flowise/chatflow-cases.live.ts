import { afterAll, beforeAll, describe, it } from 'vitest';
import { CHATFLOW_CASES } from './chatflow-cases.ts';
import { HAS_REAL, HAS_SECOND, type RealServers, realServers } from './real.ts';
import { openWorkshop, type Workshop } from './workshop.ts';

describe.skipIf(!HAS_REAL)('on a real Flowise', () => {
  let servers: RealServers;
  let workshop: Workshop;

  beforeAll(async () => {
    servers = await realServers();
    workshop = await openWorkshop('sqlite', servers);
  });
  afterAll(async () => {
    await workshop?.close();
    await servers?.stop();
  });

  for (const { name, needsSecond, run } of CHATFLOW_CASES) {
    it.skipIf(needsSecond && !HAS_SECOND)(name, () => run(workshop));
  }
});
