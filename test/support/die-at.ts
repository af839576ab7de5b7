import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import BetterSqlite3 from 'better-sqlite3';
import pg from 'pg';

/**
 * Processes that die without warning at a chosen step. A step is a call that changes files or a statement for the
 * database; a write is two steps, before it and half-way through it. The product knows nothing of this: the functions
 * of Node and of the drivers are replaced in the dying process alone.
 *
 * A script calls `startDying()` once it is ready and then does its work; `dieEverywhere` runs it again and again, one
 * step further each time, until it survives.
 */
const FILE_STEPS = ['openSync', 'fsyncSync', 'renameSync', 'linkSync', 'unlinkSync', 'rmSync', 'mkdirSync'] as const;
const WRITES = ['writeSync', 'writeFileSync'] as const;
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/flowright', import.meta.url));
const AT_ONCE = 4;
/** Every twelfth step, unless all are asked for. Tests begin at different ones, so that together they meet them all. */
const STRIDE = process.env.CRASH_STEPS === 'all' ? 1 : 12;

/** How many of so many steps are tried at least. */
export const triedOf = (steps: number): number => Math.floor(steps / STRIDE);

/** Counts steps from here on and ends the process at the one that the test chose. */
export function startDying(): void {
  const chosen = Number(process.env.DIE_AT ?? Number.NaN);
  let steps = 0;
  const isLast = (): boolean => {
    steps += 1;
    return steps === chosen;
  };
  const step = (): void => {
    if (isLast()) die();
  };
  patchFiles(step, isLast);
  patchSqlite(step);
  patchPostgres(step);
}

// biome-ignore lint/suspicious/noExplicitAny: functions of many shapes are wrapped alike
type AnyFunction = (this: unknown, ...args: any[]) => unknown;

function patchFiles(step: () => void, isLast: () => boolean): void {
  const functions = fs as unknown as Record<string, AnyFunction>;
  for (const name of FILE_STEPS) wrap(functions, name, step);
  for (const name of WRITES) {
    const original = functions[name] as AnyFunction;
    functions[name] = (file, data, ...rest) => {
      step();
      if (isLast()) {
        const bytes = Buffer.from(data as string);
        original(file, bytes.subarray(0, Math.floor(bytes.length / 2)));
        die();
      }
      return original(file, data, ...rest);
    };
  }
  // Modules that imported these by name see the change.
  syncBuiltinESMExports();
}

function patchSqlite(step: () => void): void {
  const memory = new BetterSqlite3(':memory:');
  const statement = Object.getPrototypeOf(memory.prepare('select 1')) as Record<string, AnyFunction>;
  memory.close();
  for (const name of ['run', 'all', 'get', 'iterate']) wrap(statement, name, step);
}

function patchPostgres(step: () => void): void {
  wrap(pg.Client.prototype as unknown as Record<string, AnyFunction>, 'query', step);
}

function wrap(holder: Record<string, AnyFunction>, name: string, before: () => void): void {
  const original = holder[name] as AnyFunction;
  holder[name] = function (this: unknown, ...args: unknown[]) {
    before();
    return original.apply(this, args);
  };
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment; not one more step happens meanwhile.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Runs the script in a process of its own that dies at the step; true when it came to its end instead. */
function runToDeath(bundle: string, args: string[], step: number): Promise<boolean> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [bundle, ...args], {
      env: { ...process.env, DIE_AT: String(step) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      complaints += chunk;
    });
    child.once('error', fail);
    child.once('close', (code, signal) => {
      if (signal === 'SIGKILL') done(false);
      else if (code === 0) done(true);
      else fail(new Error(`the script ended with ${code ?? signal}: ${complaints}`));
    });
  });
}

/** A hundred starts: one small file loads faster than all the sources. It lies where Node finds our packages. */
async function bundled(script: string): Promise<{ file: string; remove(): void }> {
  fs.mkdirSync(CACHE, { recursive: true });
  const folder = fs.mkdtempSync(join(CACHE, 'die-at-'));
  const outfile = join(folder, 'script.mjs');
  const { build } = await import('esbuild');
  const banner = {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  };
  await build({
    entryPoints: [script],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['better-sqlite3', 'pg', 'yaml', 'esbuild'],
    banner,
    legalComments: 'none',
  });
  return { file: outfile, remove: () => fs.rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Lets a TypeScript file die at one step after the other, each time with arguments of its own, and looks at what it
 * left. `CRASH_STEPS=all` tries each; without it every twelfth is, from one on that `turn` chooses. Returns the number
 * of steps that there are before the end, as far as they were tried.
 */
export async function dieEverywhere(
  script: string,
  prepare: (step: number) => Promise<string[]>,
  look: (step: number) => Promise<void>,
  turn = 0,
): Promise<number> {
  const { file, remove } = await bundled(script);
  const dieAt = async (step: number): Promise<boolean> => {
    const survived = await runToDeath(file, await prepare(step), step);
    await look(step);
    return survived;
  };
  try {
    for (let first = 1 + (turn % STRIDE); ; first += AT_ONCE * STRIDE) {
      const steps = Array.from({ length: AT_ONCE }, (_, at) => first + at * STRIDE);
      const survivor = (await Promise.all(steps.map(dieAt))).indexOf(true);
      if (survivor >= 0) return (steps[survivor] as number) - 1;
    }
  } finally {
    remove();
  }
}
