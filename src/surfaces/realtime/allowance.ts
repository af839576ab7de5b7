/** How many messages a client may send in a while. */
export function createAllowance(messages: number, windowMs: number, now: () => number = Date.now): () => boolean {
  let windowEnds = 0;
  let left = messages;
  return () => {
    const at = now();
    if (at >= windowEnds) {
      windowEnds = at + windowMs;
      left = messages;
    }
    left -= 1;
    return left >= 0;
  };
}
