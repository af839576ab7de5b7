import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/flowright', import.meta.url));
const banner =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

/** A TypeScript file and all of ours that it needs as one file, which many processes start quickly. */
export async function bundled(script: string): Promise<{ file: string; remove(): void }> {
  mkdirSync(CACHE, { recursive: true });
  // Where Node finds our packages.
  const folder = mkdtempSync(join(CACHE, 'script-'));
  const file = join(folder, 'script.mjs');
  await build({
    entryPoints: [script],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['better-sqlite3', 'pg', 'yaml'],
    banner: { js: banner },
    legalComments: 'none',
  });
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
