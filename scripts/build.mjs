// Bundles the program into dist/. What a short command touches is bundled and split, so that `flow list` reads
// few and small files; servers and native modules stay outside and load only in the commands that need them.
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');

const { metafile } = await build({
  metafile: true,
  absWorkingDir: root,
  entryPoints: ['src/main.ts'],
  outdir: dist,
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  minify: true,
  keepNames: false,
  legalComments: 'none',
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
  external: [
    'better-sqlite3',
    'fastify',
    '@fastify/*',
    'pg',
    'pino',
    '@modelcontextprotocol/*',
    'socket.io',
    'undici',
    '@langchain/*',
  ],
  chunkNames: 'chunks/[name]-[hash]',
});

// What an earlier build left goes last, so that a program started meanwhile finds all of its parts.
const written = new Set(Object.keys(metafile.outputs).map((path) => join(root, path)));
for (const path of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const file = join(path.parentPath ?? path.path, path.name);
  if (path.isFile() && !written.has(file)) rmSync(file);
}

// `npx flowright` in the checkout runs this build, also without a network.
const main = join(dist, 'main.js');
chmodSync(main, 0o755);
const bin = join(root, 'node_modules', '.bin');
mkdirSync(bin, { recursive: true });
if (process.platform !== 'win32') {
  for (const name of ['flowright', 'knowtation']) {
    rmSync(join(bin, name), { force: true });
    symlinkSync(join('..', '..', 'dist', 'main.js'), join(bin, name));
  }
}
