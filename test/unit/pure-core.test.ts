import { readdirSync, readFileSync } from 'node:fs';
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
  'src/kernel/gates.ts': {},
  'src/policy/policy-keys.ts': {
    '../flows/index.ts': 'the kinds that a cap may name',
    '../kernel/gates.ts': 'the type of a gate',
  },
  'src/policy/resolve.ts': {
    '../kernel/gates.ts': 'what the environment decided',
    './policy-keys.ts': 'every policy, its file and its default',
  },
  'src/policy/triggers.ts': { zod: 'what the file may hold' },
  'src/policy/rubric.ts': { zod: 'what the file may hold' },
  'src/proposals/evaluation.ts': {
    zod: 'the words of an outcome',
    '../kernel/errors.ts': 'the type of an issue',
    '../policy/index.ts': 'the type of a rubric',
  },
  'src/proposals/record.ts': {
    zod: 'what a proposal is on the wire',
    '../database/index.ts': 'types of rows',
    '../operations/index.ts': 'scopes, and what one line of text is',
    './evaluation.ts': 'the states of an evaluation',
  },
  'src/proposals/approval-log.ts': {
    '../kernel/terminal.ts': 'a path stays one line',
    './record.ts': 'types',
    './target.ts': 'types',
  },
  'src/authoring/auto-approvable.ts': { '../flows/index.ts': 'types' },
  'src/authoring/write-authority.ts': { '../operations/index.ts': 'types' },
  'src/authoring/gate.ts': {
    '../flows/index.ts': 'types',
    '../kernel/errors.ts': 'the refusals, and what to do next',
    '../operations/index.ts': 'the place of an issue',
    '../policy/index.ts': 'types',
  },
  'src/authoring/draft.ts': {
    '../flows/index.ts': 'the judge of a bundle',
    '../kernel/errors.ts': 'the refusals, and what to do next',
    '../operations/index.ts': 'the place of an issue',
    '../proposals/index.ts': 'fields that every way of proposing shares',
  },
  'src/authoring/flow-proposal.ts': {
    zod: 'what the envelope is on the wire',
    '../operations/index.ts': 'the scopes',
    '../proposals/index.ts': 'types',
  },
  'src/authoring/edit-document.ts': {
    '../flows/index.ts': 'how a step id is made',
    '../kernel/errors.ts': 'the refusal of a file that cannot be read',
    '../kernel/semver.ts': 'the version after this one',
    '../kernel/yaml.ts': 'the form that people edit',
  },
  'src/vault/note-state-id.ts': {
    '../kernel/canonical-json.ts': 'equal notes have equal text',
    '../kernel/hash.ts': 'the text becomes a token',
  },
  'src/vault/note-path.ts': {
    zod: 'a path as an input',
    '../kernel/errors.ts': 'the refusal of a path that is the server’s',
    './limits.ts': 'how long it may be',
  },
  'src/vault/provenance.ts': {},
  'src/diff/diff-flows.ts': {
    '../flows/index.ts': 'types',
    '../operations/index.ts': 'the place of a change',
    './change.ts': 'types',
    './flow-changes.ts': 'what changed in the flow itself',
    './impact.ts': 'what a change means for the version',
    './step-changes.ts': 'what changed in a step',
    './step-pairing.ts': 'which step became which',
    './version-class.ts': 'major, minor, patch',
  },
  'src/projection/project-flow.ts': {
    '../flows/index.ts': 'the token of what is shown',
    './cli-runbook.ts': 'a form',
    './cursor-rule.ts': 'a form',
    './cursor-skill.ts': 'a form',
    './document.ts': 'how much fits',
    './harness.ts': 'types',
    './mcp-prompt.ts': 'a form',
  },
  'src/flowcharts/runtime/compiled-graph.ts': { '../graph/model.ts': 'types' },
  'src/flowcharts/runtime/routing.ts': { '../graph/model.ts': 'types' },
  'src/flowcharts/runtime/scheduler.ts': {
    './compiled-graph.ts': 'types',
    './routing.ts': 'which connectors are followed',
  },
  'src/flowcharts/runtime/restore.ts': {
    '../../database/index.ts': 'statements as values; whoever runs them is elsewhere',
    './compiled-graph.ts': 'types',
    './scheduler.ts': 'the story is told to it again',
  },
  'src/flowcharts/runtime/limits.ts': {},
  'src/flowcharts/runtime/build-context.ts': {
    '../../database/index.ts': 'types',
    './compiled-graph.ts': 'types',
    './input-context.ts': 'types',
    './outputs.ts': 'types',
    './scheduler.ts': 'types',
  },
  'src/knowledge/normalise-node.ts': { '../flowise/index.ts': 'types, and which inputs are parameters' },
  'src/knowledge/anchors.ts': { '../flowise/index.ts': 'types, and which inputs are parameters' },
  'src/knowledge/node-index.ts': { '../flowise/index.ts': 'types, and names that are alike' },
  'src/knowledge/credential-lint.ts': {},
  'src/knowledge/credential-entry.ts': { '../flowise/index.ts': 'types', './port.ts': 'types' },
  'src/knowledge/merge-entries.ts': { '../kernel/canonical-json.ts': 'equal entries have equal text' },
  'src/knowledge/template-entry.ts': {
    '../flowise/index.ts': 'reading and summing up a flow',
    '../kernel/canonical-json.ts': 'equal templates have equal text',
    '../kernel/hash.ts': 'an id that stays',
    './port.ts': 'types',
  },
  'src/knowledge/template-search.ts': { './port.ts': 'types' },
  'src/knowledge/slices.ts': {
    '../flowise/index.ts': 'types, and what hides a secret',
    '../kernel/secrets.ts': 'what looks like a secret',
    '../kernel/terminal.ts': 'names stay one line',
    './anchors.ts': 'what a node connects to',
    './port.ts': 'types',
  },
  'src/chatflows/change-line.ts': { '../flowise/index.ts': 'types' },
  'src/chatflows/credential-places.ts': { '../flowise/index.ts': 'types' },
};

/** Folders that are pure as a whole: beside their own files they import these. */
const PURE_FOLDERS: Record<string, Record<string, string>> = {
  'src/flowise/flow': {
    '../../kernel/canonical-json.ts': 'equal flows have equal text',
    '../../kernel/cut.ts': 'long values are cut',
    '../../kernel/errors.ts': 'the type of an issue',
    '../../kernel/hash.ts': 'the text becomes a hash',
    '../../kernel/hide-secrets.ts': 'secrets inside values',
    '../../kernel/secret-fields.ts': 'names that mean a secret',
    '../../kernel/secret-text.ts': 'texts that hold a secret',
    '../../kernel/secrets.ts': 'what looks like a secret',
    '../../kernel/terminal.ts': 'names stay inert, our colours do not',
    '../../operations/index.ts': 'issues and pointers as every door shows them',
  },
  'src/flowise/compiler': {
    zod: 'the schemas of operations',
    '../../kernel/canonical-json.ts': 'equal tools have equal text',
    '../../kernel/errors.ts': 'the type of an issue, and the refusal of the guard',
    '../../kernel/hash.ts': 'the hash of what would be stored',
    '../../kernel/secret-text.ts': 'labels in messages',
    '../../operations/index.ts': 'issues and pointers as every door shows them',
    '../client/client.ts': 'types',
    '../flow/*': 'the flow that is changed, and how it differs',
    '../node-schema.ts': 'what is known of node types is a port',
  },
};

/** What the pure files may reach from outside, through any number of our own. */
const OUTSIDE = {
  zod: 'schemas',
  'node:crypto': 'SHA-256 in kernel/hash',
  yaml: 'a reader and writer of text',
  'node:module': 'loads that one when it is first needed, in kernel/yaml',
};

const IN_FOLDERS = Object.keys(PURE_FOLDERS).flatMap((folder) =>
  readdirSync(join(ROOT, folder)).map((file) => `${folder}/${file}`),
);
const FILES = [...Object.keys(ALLOWED), ...IN_FOLDERS];
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
/** Static, dynamic, re-exported and for-effect imports alike. */
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s(?:[^'";]*?\sfrom\s)?\s*['"]([^'"]+)['"]|\b(?:import|require)\(\s*['"]([^'"]+)['"]/g;
const importsOf = (text: string) => [...text.matchAll(IMPORT)].map(([, fixed, called]) => (fixed ?? called) as string);
const withoutTypes = (text: string) =>
  text
    .replace(/(^|\n)\s*(?:import|export) type [^;]*;/g, '$1')
    .replace(/(?<=[{,]\s*)type \w+(?: as \w+)?,?/g, '')
    .replace(/(^|\n)\s*import \{\s*\} from [^;]*;/g, '$1');

/** `import { a, b as c } from '../room/index.ts'`: the names that are taken from a room. */
const FROM_ROOM = /(?:^|\n)\s*import\s*\{([^}]*)\}\s*from\s*'([^']+\/index\.ts)'/g;
const FROM_FILE = /(?:^|\n)\s*export\s*\{([^}]*)\}\s*from\s*'([^']+)'/g;
const namesIn = (list: string) =>
  list
    .split(',')
    .map((name) => name.trim().split(/\s+as\s+/)[0] as string)
    .filter((name) => name !== '');

/** The files of a room that define these names. A room is entered by its index; what else lies in it is not meant. */
function definers(index: string, names: readonly string[]): string[] {
  const text = withoutTypes(read(index));
  const files = [...text.matchAll(FROM_FILE)].flatMap(([, list, target]) =>
    namesIn(list as string).map((name) => ({ name, file: join(dirname(index), target as string) })),
  );
  return names.map((name) => {
    const found = files.find((each) => each.name === name);
    if (!found) throw new Error(`${index} does not say where ${name} comes from`);
    return found.file;
  });
}

/** Every module that is needed by this file: ours by path, others by name. */
function reach(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const text = withoutTypes(read(path));
  const rooms = [...text.matchAll(FROM_ROOM)];
  for (const [, list, target] of rooms) {
    for (const file of definers(join(dirname(path), target as string), namesIn(list as string))) reach(file, seen);
  }
  for (const target of importsOf(text)) {
    if (rooms.some(([, , room]) => room === target)) continue;
    if (target.startsWith('.')) reach(join(dirname(path), target), seen);
    else seen.add(target);
  }
  return seen;
}

describe('[FLR-import-boundaries] the pure core', () => {
  it.each(Object.keys(ALLOWED))('%s imports what it needs and nothing else', (path) => {
    expect([...new Set(importsOf(read(path)))].sort()).toEqual(Object.keys(ALLOWED[path] ?? {}).sort());
  });

  it.each(Object.entries(PURE_FOLDERS))('%s as a whole imports what it needs and nothing else', (folder, allowed) => {
    const files = IN_FOLDERS.filter((path) => dirname(path) === folder);
    const outside = files
      .flatMap((path) => importsOf(read(path)))
      .filter((target) => !target.startsWith('./'))
      .map((target) => target.replace(/^\.\.\/flow\/.*/, '../flow/*'));
    expect([...new Set(outside)].sort()).toEqual(Object.keys(allowed).sort());
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
    expect([...reach('src/authoring/drafts.ts')], 'through a room').toContain('src/proposals/proposal-store.ts');
    expect([...reach('src/authoring/drafts.ts')], 'types load nothing').not.toContain('src/database/connect.ts');
  });

  it('enters a room for the names it takes and no others', () => {
    const text = `import { type A, b, type C as D } from '../room/index.ts';\nimport { type E } from './e.ts';`;
    expect(importsOf(withoutTypes(text))).toEqual(['../room/index.ts']);
    const named = [...withoutTypes(text).matchAll(FROM_ROOM)].flatMap(([, list]) => namesIn(list as string));
    expect(named).toEqual(['b']);
    expect(() => definers('src/flows/index.ts', ['noSuchName'])).toThrow('noSuchName');
    expect([...reach('src/policy/policy-keys.ts')]).toContain('src/flows/flow-schema.ts');
    expect([...reach('src/policy/policy-keys.ts')]).not.toContain('src/flows/starter.ts');
  });
});
