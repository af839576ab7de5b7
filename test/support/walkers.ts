import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TestStore } from './databases.ts';

/** Where a walker kills or stops itself: before a commit, in it, in one with an effect, or right after one. */
export type DeathPlace = 'before' | 'inside' | 'effect' | 'after';

/** What a walking process is told when it is to begin. */
export interface Orders {
  /** slow: 5 to 20 ms each, with calls recorded; watched: with calls recorded; plain: as they are. */
  nodes: 'slow' | 'watched' | 'plain';
  runsAtOnce: number;
  /** So many nodes have done their work by then. With `stops` it is not killed but stopped, once. */
  death: { how: DeathPlace; after: number; stops?: boolean } | null;
  /** Walks these and says how much memory it holds after so many; otherwise it looks for runs by itself. */
  wake?: readonly number[];
  weighAt?: readonly number[];
}

/** A line of the file in which walkers write what they do. */
export interface Recorded {
  at: 'go' | 'begin' | 'done' | 'die' | 'stop';
  pid: number;
  run_id: number;
  node_run_id: number;
  ms: number;
}

/** Bytes that a process holds. */
export interface Weight {
  rss: number;
  heapUsed: number;
}

export interface Walker {
  pid: number;
  go(orders: Orders): void;
  /** The next line it prints, or null when it ended. */
  line(): Promise<string | null>;
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Resolves when it has ended, with the signal that ended it. */
  ended: Promise<string | null>;
  /** Lets it close in good order. */
  end(): Promise<void>;
}

export interface Walkers {
  start(): Walker;
  recorded(): Recorded[];
  remove(): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL('./walker.ts', import.meta.url));
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/flowright', import.meta.url));
const banner =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

/** Processes that walk the runs of one store. They are loaded when they start and walk when they are told to. */
export async function makeWalkers(store: TestStore): Promise<Walkers> {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'walker-'));
  const script = join(folder, 'walker.mjs');
  const { build } = await import('esbuild');
  await build({
    entryPoints: [SCRIPT],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // What these runs never load stays out of what every process has to read.
    external: ['better-sqlite3', 'pg', 'yaml', '@langchain/*', '@marcbachmann/cel-js'],
    banner: { js: banner },
    legalComments: 'none',
  });
  const record = join(store.home, 'calls.jsonl');
  const living = new Set<Walker>();
  return {
    start: () => {
      const walker = startWalker(script, [store.databaseUrl ?? '', join(store.home, 'flowright.db'), record]);
      living.add(walker);
      void walker.ended.then(() => living.delete(walker));
      return walker;
    },
    recorded: () => readRecord(record),
    remove: async () => {
      for (const walker of living) walker.signal('SIGKILL');
      await Promise.all([...living].map(({ ended }) => ended));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function startWalker(script: string, args: string[]): Walker {
  // What the collector reserves for young objects would otherwise double at moments of its own choice.
  const flags = ['--expose-gc', '--max-semi-space-size=4'];
  const child = spawn(process.execPath, [...flags, script, ...args], {
    env: { ...process.env, PGAPPNAME: 'walker' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { stdin, stdout, pid } = child;
  if (pid === undefined) throw new Error('the walker did not start');
  // One that was killed cannot be told anything.
  stdin.on('error', () => {});
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit').then(([, signal]) => signal as string | null);
  const line = async (): Promise<string | null> => {
    const next = await lines.next();
    return next.done ? null : (next.value as string);
  };
  const isReady = line();
  return {
    pid,
    go: (orders) => void isReady.then(() => stdin.write(`${JSON.stringify(orders)}\n`)),
    line: async () => {
      await isReady;
      return line();
    },
    signal: (name) => void child.kill(name),
    ended,
    end: async () => {
      stdin.end();
      await ended;
    },
  };
}

/** A line that was cut off by a death tells nothing. */
function readRecord(file: string): Recorded[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as Recorded] : []));
}
