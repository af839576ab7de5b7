// How fast runs are walked, against LangGraph.js with its SQLite saver and against the bare database. Prints ratios of
// medians over interleaved rounds of one process; ends with 1 when a wanted number was missed.
//
// Every step is durable for all three: with synchronous = NORMAL, which is what the saver uses when it opens a file
// itself, it survives the death of the process; with FULL, which is what Flowright uses, also the loss of power. FULL
// mostly measures the disk, so the wanted ratios are asked of NORMAL and those with FULL are printed beside them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { arch, cpus, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { openBare } from './bare.mjs';
import { fan, linear } from './graphs.mjs';

const ROUNDS = 5;
const SECTIONS = ['linear', 'fan', 'scale', 'first', 'many', 'full'];
const here = dirname(fileURLToPath(import.meta.url));
const chosen = process.argv.length > 2 ? process.argv.slice(2) : SECTIONS;
if (!existsSync(join(here, '..', 'node_modules', '@langchain', 'langgraph'))) {
  console.log('Peers are missing. Install them first: npm install --prefix bench');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'flowright-bench-'));
const bundle = join(here, '..', '..', 'node_modules', '.cache', 'flowright', `bench-engine-${process.pid}.mjs`);
process.on('exit', () => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(bundle, { force: true });
});
await build({
  entryPoints: [join(here, 'engine.ts')],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  logLevel: 'error',
});
const { openEngine } = await import(pathToFileURL(bundle).href);
const { openLangGraph } = await import('./langgraph.mjs');
// LangGraph listens once a branch; Node would warn of each.
process.removeAllListeners('warning');
process.on('warning', () => {});

let missed = 0;
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const rate = (n, ms) => `${Math.round((n / ms) * 1_000)}/s`;
function say(text, ok = true) {
  if (!ok) missed += 1;
  console.log(`${ok ? '  ' : '! '}${text}`);
}

/** Everybody is warmed up alike, until compiled code no longer changes. */
async function interleave(runners, warmUp) {
  const times = runners.map(() => []);
  for (let round = 1 - warmUp; round <= ROUNDS; round += 1) {
    for (const [at, run] of runners.entries()) {
      // Nobody pays for what the one before left behind.
      globalThis.gc?.();
      const taken = await run();
      if (round > 0) times[at].push(taken);
    }
  }
  return times.map(median);
}

async function withAll(synchronous, work) {
  const place = (name) => join(folder, `${name}-${synchronous}`);
  const engine = await openEngine(place('home'), synchronous);
  const peer = await openLangGraph(place('langgraph.db'), synchronous);
  const bare = openBare(place('bare.db'), synchronous);
  await work(engine, peer, bare);
  await engine.close();
  peer.close();
  bare.close();
}

async function benchLinear(engine, peer, bare, n, wanted) {
  const id = await engine.save(`linear ${n}`, linear(n));
  const [ours, theirs, limit] = await interleave(
    [() => engine.run(id), peer.linear(n), bare.linear(n)],
    Math.max(5, 10_000 / n / (n > 500 ? 2 : 1)),
  );
  const ratio = theirs / ours;
  const share = limit / ours;
  say(
    `linear, ${n} nodes: ${ratio.toFixed(1)} × LangGraph (${rate(n, ours)} against ${rate(n, theirs)}${wanted ? `; wanted at least ${wanted} ×` : ''})`,
    !wanted || ratio >= wanted,
  );
  say(
    `linear, ${n} nodes: ${Math.round(share * 100)} % of a bare loop of two transactions a step (${rate(n, limit)}; wanted at least 50 %)`,
    share >= 0.5,
  );
}

async function benchFan(engine, peer, n, wanted) {
  const id = await engine.save('fan', fan(n), 64);
  const [ours, theirs] = await interleave([() => engine.run(id), peer.fan(n)], 3);
  const ratio = theirs / ours;
  say(
    `1 → ${n} → 1: ${ratio.toFixed(1)} × LangGraph (${rate(n, ours)} against ${rate(n, theirs)}; wanted at least ${wanted} ×)`,
    ratio >= wanted,
  );
}

async function benchScale(engine) {
  const few = await engine.save('few', linear(100));
  const many = await engine.save('many', linear(9_000));
  const small = [];
  const large = [];
  for (let round = 0; round < 3; round += 1) {
    for (let at = 0; at < 10; at += 1) small.push((await engine.run(few)) / 100);
    large.push((await engine.run(many)) / 9_000);
  }
  const ratio = median(large) / median(small);
  say(`cost per node at 9,000 nodes: ${ratio.toFixed(2)} × that at 100 (wanted at most 1.5 ×)`, ratio <= 1.5);
  const bytes = async (id, n) => {
    const before = await engine.bytes();
    await engine.run(id);
    return ((await engine.bytes()) - before) / n;
  };
  const large9 = await bytes(many, 9_000);
  const large3 = await bytes(await engine.save('middle', linear(3_000)), 3_000);
  say(
    `database bytes per node: ${Math.round(large9)} at 9,000 nodes, ${Math.round(large3)} at 3,000 (wanted within 10 %)`,
    Math.abs(large9 / large3 - 1) <= 0.1,
  );
}

async function benchFirst(engine) {
  const id = await engine.save('small', linear(3));
  const times = [];
  for (let at = 0; at < 60; at += 1) times.push(await engine.firstNode(id));
  const taken = median(times);
  say(`first node running after ${taken.toFixed(1)} ms, median of ${times.length} (wanted at most 20 ms)`, taken <= 20);
}

function benchMany() {
  const child = spawnSync(
    process.execPath,
    ['--expose-gc', join(here, 'many-runs.mjs'), bundle, join(folder, 'many')],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const { at100, at500 } = JSON.parse(child.stdout);
  const growth = at500 / at100 - 1;
  say(
    `500 concurrent runs finished; resident memory ${Math.round(at100 / 1_048_576)} MiB at the 100th, ${(growth * 100).toFixed(1)} % more at the 500th (wanted less than 10 %)`,
    growth < 0.1,
  );
}

console.log(
  `Node ${process.versions.node}, ${platform()} ${arch()}, ${cpus().length} cores; SQLite, WAL; ${ROUNDS} interleaved rounds after warming up, medians`,
);
console.log('synchronous = NORMAL for all:');
await withAll('NORMAL', async (engine, peer, bare) => {
  if (chosen.includes('linear')) {
    await benchLinear(engine, peer, bare, 100, 8);
    await benchLinear(engine, peer, bare, 1_000, 25);
  }
  if (chosen.includes('fan')) await benchFan(engine, peer, 1_000, 6);
  if (chosen.includes('scale')) await benchScale(engine);
});
console.log('synchronous = FULL for all:');
await withAll('FULL', async (engine, peer, bare) => {
  if (chosen.includes('full')) await benchLinear(engine, peer, bare, 100, null);
  if (chosen.includes('first')) await benchFirst(engine);
});
if (chosen.includes('many')) benchMany();
if (missed > 0) console.log(`${missed} wanted numbers were missed`);
process.exit(missed > 0 ? 1 : 0);
