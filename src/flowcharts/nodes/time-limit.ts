import { createContext, Script } from 'node:vm';

/** Raised in place of whatever the work would have given. */
export class TimeUp extends Error {
  constructor(milliseconds: number) {
    super(`it took longer than ${Math.ceil(milliseconds)} ms`);
    this.name = 'TimeUp';
  }
}

const script = new Script('work()');
const room = createContext({}) as { work?: () => void };

/**
 * Runs synchronous work that somebody else wrote, such as a pattern or an expression over data of any size. Nothing
 * else can stop a regular expression that backtracks without end; the watchdog of a script can.
 */
export function withinTime<T>(milliseconds: number, work: () => T): T {
  let outcome: { value: T } | { thrown: unknown } | undefined;
  const outer = room.work;
  room.work = () => {
    try {
      outcome = { value: work() };
    } catch (thrown) {
      outcome = { thrown };
    }
  };
  try {
    script.runInContext(room, { timeout: Math.max(1, Math.ceil(milliseconds)) });
  } catch {
    // Only the watchdog throws here.
    throw new TimeUp(milliseconds);
  } finally {
    if (outer) room.work = outer;
    else delete room.work;
  }
  if (outcome && 'value' in outcome) return outcome.value;
  throw outcome?.thrown;
}
