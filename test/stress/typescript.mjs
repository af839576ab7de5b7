// Lets a plain `node` run the sources: `node --import ./typescript.mjs script.ts`. Types are removed, nothing else.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { transform } from 'esbuild';

if (isMainThread) register(import.meta.url);

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const source = await readFile(fileURLToPath(url), 'utf8');
  const { code } = await transform(source, { loader: 'ts', target: 'node20', format: 'esm' });
  return { format: 'module', source: code, shortCircuit: true };
}
