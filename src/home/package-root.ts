import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

let root: string | undefined;

/** The folder of our package.json, from the sources and from the bundle alike. */
export function packageRoot(): string {
  root ??= climb(dirname(fileURLToPath(import.meta.url)));
  return root;
}

export function packageVersion(): string {
  return (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;
}

function climb(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  return climb(dirname(folder));
}
