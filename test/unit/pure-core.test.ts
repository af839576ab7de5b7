import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/program.ts';

/** What each pure file may import, and why. A new line here is a decision, not a formality. */
const ALLOWED: Record<string, Record<string, string>> = {
  'src/flows/validate.ts': {
    zod: 'the schemas say what a flow is',
    '../kernel/errors.ts': 'the type of an issue',
    '../operations/index.ts': 'issues as every door shows them',
    './flow-id.ts': 'how a step id is made',
    './flow-schema.ts': 'what a flow and a step are',
    './limits.ts': 'how large they may be',
  },
  'src/flows/state-id.ts': {
    '../kernel/canonical-json.ts': 'equal flows have equal text',
    '../kernel/hash.ts': 'the text becomes a token',
    './client-view.ts': 'the token covers what is on the wire and nothing else',
    './flow-schema.ts': 'types',
  },
  'src/flows/client-view.ts': {
    './flow-schema.ts': 'types and the two schema names',
  },
  'src/audit/chain.ts': {
    '../kernel/canonical-json.ts': 'equal lines have equal text',
    '../kernel/hash.ts': 'each line carries the hash of the one before',
  },
  'src/operations/scope.ts': {
    '../kernel/errors.ts': 'the refusal of a scope that is not held',
    './role.ts': 'the type of a role',
  },
};

/** What the pure files may reach from outside, through any number of our own. */
const OUTSIDE = {
  zod: 'schemas',
  'node:crypto': 'SHA-256 in kernel/hash',
};

const FILES = Object.keys(ALLOWED);
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
/** Static, dynamic, re-exported and for-effect imports alike. */
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s(?:[^'";]*?\sfrom\s)?\s*['"]([^'"]+)['"]|\b(?:import|require)\(\s*['"]([^'"]+)['"]/g;
const importsOf = (text: string) => [...text.matchAll(IMPORT)].map(([, fixed, called]) => (fixed ?? called) as string);
const withoutTypes = (text: string) => text.replace(/(^|\n)\s*(?:import|export) type [^;]*;/g, '$1');

/** Every module that is loaded with this file: ours by path, others by name. */
function reach(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const target of importsOf(withoutTypes(read(path)))) {
    if (target.startsWith('.')) reach(join(dirname(path), target), seen);
    else seen.add(target);
  }
  return seen;
}

describe('[FLR-import-boundaries] the pure core', () => {
  it.each(FILES)('%s imports what it needs and nothing else', (path) => {
    expect(importsOf(read(path)).sort()).toEqual(Object.keys(ALLOWED[path] ?? {}).sort());
  });

  it.each(FILES)('%s reaches no file, socket, database or process', (path) => {
    const strays = [...reach(path)].filter((module) => !module.startsWith('src/') && !Object.hasOwn(OUTSIDE, module));
    expect(strays).toEqual([]);
  });

  it.each(FILES)('%s asks neither clock, chance nor environment', (path) => {
    expect(read(path)).not.toMatch(/\bDate\b|Math\.random|\bprocess\.|globalThis|\bfetch\(|setTimeout|performance\./);
  });

  it('would notice any way of importing', () => {
    const text = `import a from 'a';\nimport type { B } from "b";\nimport {\n  c,\n  d,\n} from './c.ts';\nimport 'e';
export * from 'f';\nexport { g } from 'g';\nconst h = await import('h');\nconst i = require("i");\nconst j = 'from k';`;
    expect(importsOf(text)).toEqual(['a', 'b', './c.ts', 'e', 'f', 'g', 'h', 'i']);
    expect(importsOf(withoutTypes(text))).not.toContain('b');
    expect([...reach('src/flows/starter.ts')]).toContain('node:fs');
  });
});
