import { validateFlowBundle } from '../../src/flows/index.ts';
import { sampleFlow } from '../support/flows.ts';

type Loose = Record<string, unknown>;

/** A bundle that may be spoilt. */
export interface LooseBundle {
  flow: Loose;
  steps: Loose[];
}

/** A valid bundle of two steps after a change. */
export function bundleWith(change: (bundle: LooseBundle) => void, steps = 2): LooseBundle {
  const bundle = structuredClone(sampleFlow('flow_sample', { steps })) as unknown as LooseBundle;
  change(bundle);
  return bundle;
}

/** What the validator says: `code path`, sorted; nothing when it accepts. */
export function complaints(candidate: unknown): string[] {
  const verdict = validateFlowBundle(candidate);
  return verdict.ok ? [] : verdict.issues.map(({ code, path }) => `${code} ${path}`).sort();
}
