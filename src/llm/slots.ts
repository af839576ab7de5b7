/** At most so many at once; the others wait in line and may leave it. */
export interface Slots {
  /** Resolves with the way to give the slot back; rejects with the signal's reason. */
  take(signal: AbortSignal | undefined): Promise<() => void>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const line = new Set<() => void>();
  const release = () => {
    const [next] = line;
    if (next) {
      line.delete(next);
      next();
    } else {
      free += 1;
    }
  };
  const once = () => {
    let isHeld = true;
    return () => {
      if (isHeld) release();
      isHeld = false;
    };
  };
  return {
    take: (signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (free > 0) {
          free -= 1;
          return resolve(once());
        }
        const leave = () => {
          line.delete(enter);
          reject(signal?.reason);
        };
        const enter = () => {
          signal?.removeEventListener('abort', leave);
          resolve(once());
        };
        signal?.addEventListener('abort', leave, { once: true });
        line.add(enter);
      }),
  };
}
