// Cost of a list as the library grows: it should follow the page, not the number of stored flows.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { makeFlow, writeStore } from './make-flows.mjs';
import { MAIN, makeHome, median, run } from './program.mjs';

const PAIRS = 15;
const WANTED = 2;
const SMALL = 400;
const LARGE = 10_000;

export function benchListScaling() {
  const { home, remove } = makeHome();
  try {
    const few = Array.from({ length: SMALL }, (_, at) => makeFlow(at, { steps: 1 }));
    // Of the large library, all but 200 are invisible to a viewer or carry another tag.
    const many = Array.from({ length: LARGE }, (_, at) => {
      if (at < 200) return makeFlow(at, { steps: 1 });
      return makeFlow(at, at % 2 ? { steps: 1, scope: 'org' } : { steps: 1, tags: ['other'] });
    });
    for (const [vault, bundles] of [
      ['few', few],
      ['many', many],
    ]) {
      run(home, 'vault', 'create', vault, '--no-starters');
      writeStore(join(home, vault), vault, bundles);
      run(home, 'flow', 'store', 'import', join(home, vault));
    }
    let ok = true;
    for (const options of [[], ['--scope', 'personal'], ['--tag', 'bench']]) {
      const times = { few: [], many: [] };
      for (let pair = 0; pair < PAIRS; pair += 1) {
        for (const vault of ['few', 'many']) times[vault].push(milliseconds(home, ['--vault', vault, ...options]));
      }
      const ratio = median(times.many) / median(times.few);
      ok &&= ratio <= WANTED;
      console.log(
        `flow list ${options.join(' ') || '(everything)'}: ${ratio.toFixed(2)} × with ${LARGE} stored flows against ${SMALL} (${median(times.many).toFixed(1)} ms against ${median(times.few).toFixed(1)} ms, whole command; wanted at most ${WANTED} ×)`,
      );
    }
    return { ok };
  } finally {
    remove();
  }
}

function milliseconds(home, options) {
  const start = process.hrtime.bigint();
  const env = { ...process.env, FLOWRIGHT_HOME: home, DATABASE_URL: '' };
  spawnSync(process.execPath, [MAIN, 'flow', 'list', '--json', ...options], { env, stdio: 'ignore' });
  return Number(process.hrtime.bigint() - start) / 1e6;
}
