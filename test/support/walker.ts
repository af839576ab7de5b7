import { openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Database } from '../../src/database/index.ts';
import type { NodeExecution, NodeResult, NodeType } from '../../src/flowcharts/nodes/node-type.ts';
import { nodeTypes } from '../../src/flowcharts/nodes/registry.ts';
import type { Orders, Recorded, Weight } from './walkers.ts';
import { walkingEngine } from './walking-engine.ts';

/**
 * A process that walks runs with the real engine. Its nodes are the real ones, slowed down where the orders say so, and
 * each of their calls is written to a file that outlives the process. Where the orders say so it kills itself at a chosen
 * place around a commit; the engine knows nothing of this.
 */
const [url, file, recordFile] = process.argv.slice(2) as [string, string, string];
const record = openSync(recordFile, 'a');
const SHORTEST_MS = 5;
const SPREAD_MS = 16;

function note(at: Recorded['at'], call: Partial<NodeExecution> = {}): void {
  const { run_id = 0, node_run_id = 0 } = call;
  const line: Recorded = { at, pid: process.pid, run_id, node_run_id, ms: Date.now() };
  writeSync(record, `${JSON.stringify(line)}\n`);
}

function die(): never {
  note('die');
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment; not one more step happens meanwhile.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

let worked = 0;

function slowed(type: NodeType): NodeType {
  return {
    ...type,
    execute: async (execution): Promise<NodeResult> => {
      note('begin', execution);
      if (worked === 0) process.stdout.write('begun\n');
      await sleep(SHORTEST_MS + ((execution.node.id * 7) % SPREAD_MS));
      const result = await type.execute(execution);
      note('done', execution);
      worked += 1;
      return result;
    },
  };
}

function watched(type: NodeType): NodeType {
  return {
    ...type,
    execute: (execution) => {
      note('begin', execution);
      return type.execute(execution);
    },
  };
}

/** The same database, on which the process dies or stops once enough nodes have done their work. */
function mortal(database: Database, { how, after, stops }: NonNullable<Orders['death']>): Database {
  let isOver = false;
  const come = (place: typeof how): void => {
    if (place !== how || worked < after || isOver) return;
    isOver = true;
    if (!stops) die();
    note('stop');
    process.kill(process.pid, 'SIGSTOP');
  };
  return {
    ...database,
    script: async (make) => {
      come('before');
      const value = await database.script(function* () {
        const made = yield* make();
        come('inside');
        return made;
      });
      come('after');
      return value;
    },
    transaction: (work) => {
      come('before');
      return database.transaction(async (trx) => {
        const value = await work(trx);
        come('effect');
        return value;
      });
    },
  };
}

process.stdout.write('ready\n');
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const orders = JSON.parse((await lines.next()).value as string) as Orders;
note('go');
const opened = await connect({ url: url || null, file });
const database = orders.death ? mortal(opened, orders.death) : opened;
const wrapped = orders.nodes === 'slow' ? slowed : watched;
const types =
  orders.nodes === 'plain' ? nodeTypes : new Map([...nodeTypes].map(([name, type]) => [name, wrapped(type)]));
const dispatcher = walkingEngine(database, types, orders.runsAtOnce);

/** What stays after the collector has been, once so many runs have ended. */
async function weighAt(marks: readonly number[], runIds: readonly number[]): Promise<Record<number, Weight>> {
  const weights: Record<number, Weight> = {};
  let ended = 0;
  await Promise.all(
    runIds.map(async (runId) => {
      dispatcher.wake(runId);
      await dispatcher.settled(runId);
      ended += 1;
      if (!marks.includes(ended)) return;
      for (let round = 0; round < 3; round += 1) globalThis.gc?.();
      const { rss, heapUsed } = process.memoryUsage();
      weights[ended] = { rss, heapUsed };
    }),
  );
  return weights;
}

if (orders.wake) {
  const weights = await weighAt(orders.weighAt ?? [], orders.wake);
  process.stdout.write(`${JSON.stringify(weights)}\n`);
} else {
  await dispatcher.start();
}
await lines.next();
await dispatcher.close();
await opened.close();
process.exit(0);
