import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../unit/source-files.ts';

const files = sourceFiles();
const TABLES = 'flows|flow_versions|flow_steps|flow_tags';

interface Import {
  /** The importing file. */
  by: string;
  /** What it imports, from the root of the repository. */
  from: string;
  names: string[];
}

/** Every import and re-export, static or not, with the names it takes; `*` for all of them. */
const imports: Import[] = files.flatMap(({ path, text }) => {
  const statics = text.matchAll(/\b(?:import|export)\s+(?:type\s+)?(\{[^}]*\}|\*(?: as \w+)?|\w+)\s+from\s+'([^']+)'/g);
  const dynamics = text.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g);
  return [
    ...[...statics].map(([, what = '', from = '']) => ({ by: path, from: resolved(path, from), names: namesIn(what) })),
    ...[...dynamics].map(([, from = '']) => ({ by: path, from: resolved(path, from), names: ['*'] })),
  ];
});

function namesIn(what: string): string[] {
  if (!what.startsWith('{')) return ['*'];
  const words = what
    .slice(1, -1)
    .split(',')
    .map((word) => word.trim());
  return words.filter((word) => word !== '' && !word.startsWith('type ')).map((word) => word.split(' as ')[0] ?? word);
}

function resolved(by: string, from: string): string {
  return from.startsWith('.') ? new URL(from, `file:///${by}`).pathname.slice(1) : from;
}

const importersOf = (file: string, name?: string) =>
  imports
    .filter(({ from, names }) => from === file && (name === undefined || names.includes(name) || names.includes('*')))
    .map(({ by }) => by)
    .sort();

const filesWith = (pattern: RegExp) => files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

describe('[FLR-only-writer] in the source, flows are written', () => {
  it('by what an approval does, through the write side of the library', () => {
    expect(importersOf('src/flows/apply.ts')).toEqual(['src/authoring/flow-target.ts', 'src/authoring/precheck.ts']);
    for (const writer of ['applyVersion', 'applyRetirement']) {
      expect(importersOf('src/flows/apply.ts', writer), writer).toEqual(['src/authoring/flow-target.ts']);
    }
  });

  it('by an approval alone: one file calls what applies, and one operation calls that', () => {
    expect(importersOf('src/authoring/index.ts', 'createFlowTarget')).toEqual(['src/app.ts']);
    expect(filesWith(/targets\[[^\]]+\]\.apply\(|\btarget\.apply\(/)).toEqual(['src/proposals/approve.ts']);
    expect(importersOf('src/proposals/approve.ts', 'approveProposal')).toEqual(['src/proposals/decide-operations.ts']);
    expect(filesWith(/\bapproveProposal\(/)).toEqual([
      'src/proposals/approve.ts',
      'src/proposals/decide-operations.ts',
    ]);
  });

  it('by seeding and by the import of a store file, besides', () => {
    expect(importersOf('src/flows/flow-store.ts', 'addVersion')).toEqual([
      'src/flows/apply.ts',
      'src/flows/starter.ts',
      'src/flows/store-transfer.ts',
    ]);
    expect(importersOf('src/flows/store-transfer.ts', 'importFlowStore')).toEqual(['src/flows/index.ts']);
    expect(importersOf('src/flows/index.ts', 'importFlowStore')).toEqual([
      'src/first-import.ts',
      'src/surfaces/cli/commands/flow-store.ts',
    ]);
  });

  it('in two files of the library, and nowhere by a statement of their own', () => {
    const built = new RegExp(`(insertInto|updateTable|deleteFrom|mergeInto|replaceInto)\\(\\s*['"\`](${TABLES})['"\`]`);
    expect(filesWith(built)).toEqual(['src/flows/apply.ts', 'src/flows/flow-store.ts']);
    const raw = new RegExp(`\\b(insert\\s+into|update|delete\\s+from|replace\\s+into|truncate)\\s+(${TABLES})\\b`, 'i');
    expect(filesWith(raw).filter((path) => !path.startsWith('src/database/migrations/'))).toEqual([]);
  });

  it('and the library offers none of it to others', () => {
    const offered = imports.filter(({ by }) => by === 'src/flows/index.ts').flatMap(({ names }) => names);
    expect(offered).not.toContain('*');
    expect(offered.filter((name) => /^(add|apply|move|hold)[A-Z]/.test(name))).toEqual([]);
    expect(importersOf('src/flows/flow-store.ts').filter((path) => !path.startsWith('src/flows/'))).toEqual([]);
  });
});
