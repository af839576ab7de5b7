import { afterAll, beforeAll, describe, it } from 'vitest';
import { CHATFLOW_CASES } from '../flowise/chatflow-cases.ts';
import type { Target } from '../flowise/target.ts';
import { openWorkshop, type Workshop } from '../flowise/workshop.ts';
import { ENGINES } from '../support/databases.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';

const targetOf = ({ url, apiKey, addKey }: FakeFlowise): Target => ({
  url,
  apiKey,
  modelUrl: 'http://127.0.0.1:9/v1',
  keyWith: async (permissions) => addKey(permissions),
});

/** The cases that `npm run test:flowise` runs on a real server. */
describe.each(ENGINES)('on a fake Flowise, with %s', (engine) => {
  const fakes: FakeFlowise[] = [];
  let workshop: Workshop;

  beforeAll(async () => {
    fakes.push(await startFakeFlowise(), await startFakeFlowise());
    const [first, second] = fakes.map(targetOf) as [Target, Target];
    workshop = await openWorkshop(engine, { first, second });
  });
  afterAll(async () => {
    await workshop?.close();
    for (const fake of fakes) await fake.close();
  });

  for (const { name, run } of CHATFLOW_CASES) it(`${name} [FLR-live-cases]`, () => run(workshop));
});
