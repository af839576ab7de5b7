import { inertLine } from '../../kernel/terminal.ts';

const FIRST_MS = 1_000;
const CLEAR_LINE = '\r\u001b[2K';

/** On a terminal, says what is going on once it takes longer than a second; the line is gone when it is done. */
export async function withPatience<T>(what: string, work: () => Promise<T>): Promise<T> {
  if (process.stderr.isTTY !== true) return work();
  const began = Date.now();
  let isShown = false;
  const tell = setInterval(() => {
    isShown = true;
    const seconds = Math.round((Date.now() - began) / 1_000);
    process.stderr.write(`${CLEAR_LINE}${inertLine(what)} … ${seconds} s`);
  }, FIRST_MS);
  try {
    return await work();
  } finally {
    clearInterval(tell);
    if (isShown) process.stderr.write(CLEAR_LINE);
  }
}
