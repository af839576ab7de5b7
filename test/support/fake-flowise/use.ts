import { onTestFinished } from 'vitest';
import { type FakeFlowise, type FakeFlowiseOptions, startFakeFlowise } from './start.ts';

/** The same, closed when the test ends. */
export async function useFakeFlowise(options: FakeFlowiseOptions = {}): Promise<FakeFlowise> {
  const fake = await startFakeFlowise(options);
  onTestFinished(() => fake.close());
  return fake;
}
