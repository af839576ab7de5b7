import { HAS_REAL, WHAT_IS_MISSING } from './real.ts';

/** Says in time why everything is skipped. */
export function setup(): void {
  if (!HAS_REAL) console.error(`\n${WHAT_IS_MISSING}\n`);
}
