import type { Chatflow } from './client.ts';
import type { Page } from './shapes.ts';

/** Each divides the one before, so that a smaller page begins where the larger one would have. */
const PAGE_SIZES = [100, 10, 1] as const;
/** Flowise sorts by the last change: an edit moves rows from page to page while they are read. */
const MAX_ROUNDS = 3;
const MAX_CHATFLOWS = 100_000;

export interface PageAsker {
  /** Pages count from 1. Null when the answer is too large. */
  ask(page: number, limit: number): Promise<Page<Chatflow> | null>;
  /** One chatflow alone, so many from the newest, is too large. */
  tooLarge(position: number): Error;
  refuse(problem: string): Error;
  /** Of all flows together, in characters. */
  maxChars: number;
}

/** Every chatflow, in answers of bounded size. A list that moved while it was read is read again, never half believed. */
export async function readInPages(asker: PageAsker): Promise<Chatflow[]> {
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const found = await readOnce(asker);
    if (found) return found;
  }
  throw asker.refuse(
    `its list changed each of the ${MAX_ROUNDS} times that it was read, or its pages do not add up; try again in a moment`,
  );
}

/** How many there are, without reading them where the server can say so. */
export async function countInPages(asker: PageAsker): Promise<number> {
  const page = await asker.ask(1, 1);
  if (!page) throw asker.tooLarge(1);
  return page.total ?? page.entries.length;
}

/** Null when what was read cannot be all of one list: a row that was missed would count as removed. */
async function readOnce(asker: PageAsker): Promise<Chatflow[] | null> {
  const found = new Map<string, Chatflow>();
  let first: number | undefined;
  let chars = 0;
  for (let offset = 0; ; ) {
    const { page, limit } = await largestPage(asker, offset);
    // Flowise 2 knows no pages and sends all of it.
    if (page.total === null) return offset === 0 ? page.entries : null;
    first ??= page.total;
    if (page.total !== first) return null;
    if (first > MAX_CHATFLOWS) throw asker.refuse(`it has more than ${MAX_CHATFLOWS} chatflows`);
    for (const chatflow of page.entries) {
      found.set(chatflow.id, chatflow);
      chars += chatflow.flowData.length;
    }
    if (chars > asker.maxChars) {
      const megabytes = Math.round(asker.maxChars / 1_048_576);
      throw asker.refuse(`its chatflows are larger than ${megabytes} MB together; name the one you mean by its id`);
    }
    offset += limit;
    if (found.size >= first || offset >= first) return found.size === first ? [...found.values()] : null;
    if (page.entries.length < limit) return null;
  }
}

async function largestPage(asker: PageAsker, offset: number): Promise<{ page: Page<Chatflow>; limit: number }> {
  for (const limit of PAGE_SIZES) {
    if (offset % limit !== 0) continue;
    const page = await asker.ask(offset / limit + 1, limit);
    if (page) return { page, limit };
  }
  throw asker.tooLarge(offset + 1);
}
