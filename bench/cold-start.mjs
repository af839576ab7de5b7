// Cold start of `flow list --json`, as a multiple of starting Node with nothing to do.
import { spawnSync } from 'node:child_process';
import { MAIN, makeHome, median, run } from './program.mjs';

const PAIRS = 20;
const WANTED = 3;

export function benchColdStart() {
  const { home, remove } = makeHome();
  try {
    run(home, 'flow', 'list');
    const env = { ...process.env, FLOWRIGHT_HOME: home, DATABASE_URL: '' };
    const ours = [];
    const bare = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      bare.push(milliseconds(['-e', '0'], env));
      ours.push(milliseconds([MAIN, 'flow', 'list', '--json'], env));
    }
    const ratio = median(ours) / median(bare);
    console.log(
      `flow list --json, cold: ${ratio.toFixed(2)} × node -e 0 (${median(ours).toFixed(0)} ms against ${median(bare).toFixed(0)} ms, median of ${PAIRS} interleaved pairs; wanted at most ${WANTED} ×)`,
    );
    return { ok: ratio <= WANTED, ratio };
  } finally {
    remove();
  }
}

function milliseconds(args, env) {
  const start = process.hrtime.bigint();
  const { status } = spawnSync(process.execPath, args, { env, stdio: 'ignore' });
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}
