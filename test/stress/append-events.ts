import { appendEvent, connect } from '../../src/database/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';

/**
 * A process that appends events to one stream, each in a transaction of its own. Every third transaction appends two,
 * every fifth fails after appending. Prints the sequences that were committed.
 */
const [url, file, transactions] = process.argv.slice(2) as [string, string, string];
const database = await connect({ url: url || null, file });
const committed: number[] = [];
await Promise.all(
  Array.from({ length: Number(transactions) }, async (_, n) => {
    const append = (trx: Parameters<typeof appendEvent>[0]) =>
      appendEvent(trx, systemClock, { stream: 'busy', type: 'test.happened', payload: { pid: process.pid, n } });
    const work = database.transaction(async (trx) => {
      const sequences = [await append(trx)];
      if (n % 3 === 0) sequences.push(await append(trx));
      if (n % 5 === 4) throw new Error('on purpose');
      return sequences;
    });
    committed.push(
      ...(await work.catch((error: Error) => {
        if (error.message !== 'on purpose') throw error;
        return [];
      })),
    );
  }),
);
await database.close();
process.stdout.write(JSON.stringify(committed));
