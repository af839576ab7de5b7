// Writes FLOWISE_NODE_REFERENCE.md and the committed snapshots in schemas/ from answers recorded from a Flowise server,
// in our own words (baseline-words.yaml):
//
//   node scripts/write-baseline.mjs <folder with nodes.json and templates.json> <Flowise version>
//
// The answers are those of GET /api/v1/nodes and GET /api/v1/marketplaces/templates. What is missing in the words file
// ends it with a message that says what to add.
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { parse } from 'yaml';
import { inOwnWords, templateInOwnWords } from './own-words.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [folder, version] = process.argv.slice(2);
if (!folder || !version) {
  console.error('usage: node scripts/write-baseline.mjs <folder with nodes.json and templates.json> <Flowise version>');
  process.exit(1);
}

const { normaliseNode, parseReference, templateEntries, updateSnapshot, writeReference } = await knowledge();
const words = parse(readFileSync(join(root, 'scripts', 'baseline-words.yaml'), 'utf8'));
const recorded = (name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const schemas = join(root, 'schemas');
const now = new Date().toISOString();
const meta = { generated_at: now, source_host: null, flowise_version: version };

const reference = writeReference(recorded('nodes.json').map((node) => inOwnWords(normaliseNode(node), words)));
const { nodes, issues } = parseReference(reference);
if (issues.length > 0) throw new Error(`the reference does not read back: ${JSON.stringify(issues[0])}`);
writeFileSync(join(root, 'FLOWISE_NODE_REFERENCE.md'), reference);
nodes.sort((one, other) => (one.node_type < other.node_type ? -1 : 1));
await put('flowise_nodes', () => nodes, 'reference');
await put(
  'flowise_templates',
  (known) =>
    templateEntries(recorded('templates.json'), [], now).map((entry) =>
      keepStamps(templateInOwnWords(entry, words), known),
    ),
  'flowise_api',
);

async function put(kind, items, source) {
  const { state } = await updateSnapshot(schemas, kind, (current) => {
    const known = current.state === 'ok' ? current.items : [];
    return { ...meta, source, items: items(known) };
  });
  rmSync(join(schemas, `${kind}.checked.json`), { force: true });
  // Snapshots of a server are for its user alone; these are for everybody.
  for (const ending of ['snapshot', 'meta']) chmodSync(join(schemas, `${kind}.${ending}.json`), 0o644);
  console.log(`${kind}: ${state}`);
}

/** An entry that says what it said before keeps the time at which it was first recorded. */
function keepStamps(entry, known) {
  const old = known.find(({ template_id }) => template_id === entry.template_id);
  const same = old && { ...entry, version_label: old.version_label, snapshot_at: old.snapshot_at };
  return same && JSON.stringify(same) === JSON.stringify(old) ? old : entry;
}

/** The program's own code, which is TypeScript. */
async function knowledge() {
  const outfile = join(tmpdir(), `flowright-baseline-${process.pid}.mjs`);
  const names = ['normalise-node', 'reference', 'template-entry', 'snapshot-update'];
  await build({
    stdin: {
      contents: names.map((name) => `export * from './src/knowledge/${name}.ts';`).join('\n'),
      resolveDir: root,
      loader: 'ts',
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: `import{createRequire as c}from'node:module';const require=c(${JSON.stringify(import.meta.url)});` },
    external: ['better-sqlite3', 'pg'],
    logLevel: 'error',
    define: { 'import.meta.url': JSON.stringify(import.meta.url) },
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile);
  }
}
