// Starts and calls the built program for measurements.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const MAIN = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'main.js');

export function makeHome() {
  const home = mkdtempSync(join(tmpdir(), 'flowright-bench-'));
  return { home, remove: () => rmSync(home, { recursive: true, force: true }) };
}

export function run(home, ...args) {
  const done = spawnSync(process.execPath, [MAIN, ...args], {
    encoding: 'utf8',
    env: { ...process.env, FLOWRIGHT_HOME: home, DATABASE_URL: '' },
    maxBuffer: 256 * 1024 * 1024,
  });
  if (done.status !== 0) throw new Error(`flowright ${args.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

/** Starts a node program and waits for a line `listening on URL`. */
export async function serve(args, env = {}) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((found, failed) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const match = /listening on (http:\S+)/.exec(text);
      if (match) found(match[1]);
    });
    child.once('exit', (code) => failed(new Error(`the server ended with ${code}`)));
  });
  const stop = () =>
    new Promise((ended) => {
      child.removeAllListeners('exit');
      child.once('exit', ended);
      child.kill('SIGTERM');
    });
  return { url, stop, pid: child.pid };
}

export function median(values) {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)];
}
