import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/program.ts';

const FOLDER = 'src/flowise/compiler';
/** What the compiler may import beside its own files, and why. */
const ALLOWED: Record<string, string> = {
  zod: 'the schemas of operations',
  '../../kernel/canonical-json.ts': 'equal tools have equal text',
  '../../kernel/errors.ts': 'the type of an issue, and the refusal of the guard',
  '../../kernel/hash.ts': 'the hash of what would be stored',
  '../../kernel/secret-text.ts': 'labels in messages',
  '../../operations/index.ts': 'issues and pointers as every door shows them',
  '../client/client.ts': 'types',
  '../node-schema.ts': 'types: what is known of node types is a port',
};

describe('the compiler', () => {
  it('is pure: it knows the flow model and words, no server, no file, no clock [FLR-compile-pure]', () => {
    for (const file of readdirSync(join(ROOT, FOLDER))) {
      const text = readFileSync(join(ROOT, FOLDER, file), 'utf8');
      const imports = [...text.matchAll(/from '([^']+)'/g)].map((match) => match[1] ?? '');
      const strange = imports.filter(
        (path) => !path.startsWith('./') && !path.startsWith('../flow/') && !(path in ALLOWED),
      );
      expect({ file, strange }).toEqual({ file, strange: [] });
      expect(text).not.toMatch(/Date\.now|new Date|Math\.random|process\./);
    }
  });
});
