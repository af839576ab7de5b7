// What it costs to know: the first lookup of a node against bare reading, later ones against asking a server on
// loopback, and what of it reaches a prompt against what a server would send.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { median } from './program.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const ROUNDS = 25;
const WARM_UP = 5;
const LOOKUPS = 200_000;
const WANTED_FIRST = 2;
const WANTED_LATER = 10_000;

export async function benchKnowledge() {
  process.env.FLOWISE_RECORDINGS = join(root, 'test/fixtures/flowise');
  const subject = await bundled();
  const { createClient, FlowiseKnowledgeProvider, nodeParamsSlice, silentLog, sourceHost, startFakeFlowise } = subject;
  const nodes = JSON.parse(readFileSync(join(root, 'test/fixtures/flowise/nodes.json'), 'utf8'));
  const fake = await startFakeFlowise({ nodes, templates: [] });
  const folder = mkdtempSync(join(tmpdir(), 'flowright-bench-'));
  const auth = { kind: 'key', key: fake.apiKey };
  const client = createClient({ server: 'bench', url: fake.url, auth, timeoutSeconds: 30 });
  const provider = () =>
    new FlowiseKnowledgeProvider({
      folder,
      baselineDir: join(root, 'schemas'),
      host: sourceHost(fake.url),
      client,
      clock: { now: () => new Date() },
      log: silentLog,
      repairLog: false,
      credentialTtlSeconds: 3_600,
      templateTtlSeconds: 86_400,
    });
  try {
    const snapshot = join(root, 'schemas/flowise_nodes.snapshot.json');
    const bare = () => {
      const bytes = readFileSync(snapshot);
      createHash('sha256').update(bytes).digest('hex');
      return JSON.parse(bytes.toString('utf8'));
    };
    const [first, read] = await interleaved(() => provider().openSession().nodes.get('chatOpenAI'), bare);
    const session = provider().openSession();
    const names = session.nodes.names();
    const later = () => {
      for (let at = 0; at < LOOKUPS; at += 1) session.nodes.get(names[at % names.length]);
    };
    const [many, asked] = await interleaved(later, () => client.getNode('chatOpenAI'));
    const firstRatio = first / read;
    const laterRatio = (asked * LOOKUPS) / many;
    const slice = nodeParamsSlice(session.nodes.get('chatOpenAI')).length;
    console.log(
      `first lookup of a node: ${firstRatio.toFixed(2)} × read + SHA-256 + parse (${first.toFixed(1)} ms against ${read.toFixed(1)} ms; wanted at most ${WANTED_FIRST} ×)`,
    );
    console.log(
      `later lookups: ${Math.round(laterRatio)} × faster than a server on loopback (${((many / LOOKUPS) * 1e6).toFixed(0)} ns against ${asked.toFixed(2)} ms; wanted at least ${WANTED_LATER} ×)`,
    );
    console.log(
      `a node in a prompt: ${slice} characters, against ${JSON.stringify(nodes).length} of all definitions without prose`,
    );
    return { ok: firstRatio <= WANTED_FIRST && laterRatio >= WANTED_LATER };
  } finally {
    await client.close();
    await fake.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bundled() {
  const outfile = join(root, 'node_modules', '.cache', 'flowright', `bench-knowledge-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, 'bench', 'knowledge-subject.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile, { force: true });
  }
}

/** Medians of both, measured in turns. */
async function interleaved(one, other) {
  const times = [[], []];
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    for (const [at, work] of [one, other].entries()) {
      const start = performance.now();
      await work();
      if (round >= 0) times[at].push(performance.now() - start);
    }
  }
  return times.map(median);
}
