import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/home.ts';
import { flowright, MAIN, programEnv } from '../support/program.ts';

const WANTED = 3;
const HOOK = new URL('./list-loads.mjs', import.meta.url).href;

it('[FLR-bench-numbers] [S002-9.6-performance] a cold `flow list --json` takes at most three times a bare node', async () => {
  const bench = new URL('../../bench/cold-start.mjs', import.meta.url).href;
  const { benchColdStart } = (await import(bench)) as { benchColdStart(): { ratio: number } };
  let { ratio } = benchColdStart();
  // Once more when something else had the machine.
  if (ratio > WANTED) ratio = Math.min(ratio, benchColdStart().ratio);
  expect(ratio).toBeLessThanOrEqual(WANTED);
}, 120_000);

it('[FLR-bench-numbers] a cold `flow list` loads nothing of what changes flows, notes and policies', async () => {
  const home = tempFolder();
  await flowright(['flow', 'list'], { home });
  const list = join(home, 'loaded.txt');
  const env = { ...programEnv({ home }), LOADED: list };
  execFileSync(process.execPath, ['--import', HOOK, MAIN, 'flow', 'list', '--json'], { env, stdio: 'ignore' });
  const files = readFileSync(list, 'utf8')
    .split('\n')
    .filter((url) => url.startsWith('file:'))
    .map((url) => fileURLToPath(url));
  expect(files).toContain(MAIN);
  const code = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  expect(code, 'the names of operations can be found in the code').toContain('flow.list');
  for (const operation of [
    'flow.propose',
    'flow.mirror_restore',
    'proposal.create',
    'proposal.approve',
    'policy.show',
  ]) {
    expect(code.includes(operation), operation).toBe(false);
  }
  expect(files.filter((file) => /node_modules\/(yaml|diff|fastify|pg|pino)\//.test(file))).toEqual([]);
});
