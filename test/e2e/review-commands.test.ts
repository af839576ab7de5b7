import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Person, personAt } from '../support/person.ts';

let store: TestStore;
let owner: Person;
beforeAll(async () => {
  store = await makeStore('sqlite');
  owner = personAt({ home: store.home, env: { FLOW_AUTHORING_WRITES: '1' } });
});
afterAll(() => store?.remove());

const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('help', () => {
  it.each(['flow', 'flow mirror', 'proposal', 'policy', 'note'])(
    'of %s has a sentence for each of its commands',
    async (group) => {
      const help = await owner.reads([...group.split(' '), '--help']);
      const [, commands] = help.split('\nCommands:\n');
      const names = (commands ?? '').split('\n').filter((line) => /^ {2}\S/.test(line));
      expect(names.length).toBeGreaterThan(1);
      for (const line of names) expect(line, group).toMatch(/^ {2}[a-z].*? {2,}\S+ \S+/);
    },
  );

  it.each([
    'flow propose',
    'flow import',
    'flow edit',
    'flow retire',
    'flow export',
    'flow versions',
    'flow diff',
    'flow mirror propose',
    'proposal create',
    'proposal list',
    'proposal evaluate',
    'proposal approve',
    'proposal discard',
    'proposal comment',
    'policy set',
    'note put',
  ])('of %s says what it does, what it takes, and how it is used', async (command) => {
    const help = await owner.reads([...command.split(' '), '--help']);
    expect(help).toMatch(new RegExp(`^Usage: flowright ${command} \\[options\\]`));
    expect(help.split('\n')[2]).toMatch(/^[A-Z][^\n]+[^.\s]$/);
    const [, examples] = help.split('\nExamples:\n');
    expect(examples, 'examples').toMatch(new RegExp(`^  .*flowright ${command}\\b`));
    for (const line of help.split('\n')) {
      if (/^ {2}(-|[a-z_]+ {2,})/.test(line))
        expect(line, 'each argument and option is explained').toMatch(/ {2,}\S+ \S/);
    }
  });
});

describe('[S002-3-cli-errors] a command that is used wrongly ends with 1, in one line that says what to do', () => {
  beforeAll(() => {
    mkdirSync(join(store.home, 'folder.json'));
    writeFileSync(join(store.home, 'no.json'), 'flow: {\n  yaml: [');
  });
  const fileIn = (name: string) => join(store.home, name);

  it.each<[string, () => string[], string | undefined, string, RegExp]>([
    ['no file', () => ['flow', 'propose'], undefined, 'USAGE_ERROR', /file.*--help/],
    [
      'a file that is not there',
      () => ['flow', 'propose', '/no/file.json'],
      undefined,
      'USAGE_ERROR',
      /\/no\/file\.json cannot be read \(ENOENT\)\. \S+/,
    ],
    ['a folder', () => ['flow', 'import', fileIn('folder.json')], undefined, 'USAGE_ERROR', /EISDIR/],
    [
      'a file that is no JSON',
      () => ['flow', 'import', fileIn('no.json')],
      undefined,
      'USAGE_ERROR',
      /no\.json is not valid JSON/,
    ],
    [
      'input that is no JSON',
      () => ['flow', 'propose', '-'],
      'x\ny',
      'USAGE_ERROR',
      /standard input is not valid JSON/,
    ],
    ['no input', () => ['flow', 'propose', '-'], '', 'USAGE_ERROR', /standard input/],
    ['a list', () => ['flow', 'propose', '-'], '[]', 'USAGE_ERROR', /JSON object/],
    [
      'no reason',
      () => ['flow', 'retire', 'flow_capture_to_note'],
      undefined,
      'FLOW_DRAFT_INVALID',
      /intent must say why/,
    ],
    [
      'no base',
      () => ['flow', 'propose', '-', '--intent', 'x', '--base-version', '0.1.0'],
      JSON.stringify(sampleFlow('flow_x')),
      'FLOW_DRAFT_INVALID',
      /base_state_id/,
    ],
    [
      'a flow that is not there',
      () => ['flow', 'retire', 'flow_not_there', '--intent', 'x'],
      undefined,
      'unknown_flow',
      /List the flows/,
    ],
    ['an id that is none', () => ['proposal', 'get', 'abc'], undefined, 'BAD_REQUEST', /proposal id/],
    ['a proposal that is not there', () => ['proposal', 'approve', NOBODY], undefined, 'NOT_FOUND', /no proposal 0000/],
    ['no outcome', () => ['proposal', 'evaluate', NOBODY], undefined, 'BAD_REQUEST', /outcome/],
    [
      'an outcome that is none',
      () => ['proposal', 'evaluate', NOBODY, '--outcome', 'maybe'],
      undefined,
      'BAD_REQUEST',
      /"pass" or "fail" or "needs_changes"/,
    ],
    ['a comment without words', () => ['proposal', 'comment', NOBODY, ' '], undefined, 'BAD_REQUEST', /body/],
    ['a status that is none', () => ['proposal', 'list', '--status', 'open'], undefined, 'BAD_REQUEST', /"proposed"/],
    ['a cursor that is none', () => ['proposal', 'list', '--cursor', 'x'], undefined, 'BAD_REQUEST', /next_cursor/],
    [
      'a policy that is none',
      () => ['policy', 'set', 'open', 'true'],
      undefined,
      'BAD_REQUEST',
      /flow_authoring_writes_enabled/,
    ],
    [
      'a value it cannot have',
      () => ['policy', 'set', 'evaluator_may_approve', 'yes'],
      undefined,
      'BAD_REQUEST',
      /true or false, or default/,
    ],
    [
      'a word it does not know',
      () => ['policy', 'set', 'flow_authoring_verification_kinds', 'human'],
      undefined,
      'BAD_REQUEST',
      /default/,
    ],
    [
      'a mirror that is not there',
      () => ['flow', 'mirror', 'restore', 'flow_capture_to_note'],
      undefined,
      'CONFLICT',
      /when a proposal of it is approved/,
    ],
    [
      'a note outside the vault',
      () => ['proposal', 'create', '--path', '../x.md', '--body', 'x'],
      undefined,
      'BAD_REQUEST',
      /path/,
    ],
    [
      'a front block that is none',
      () => ['proposal', 'create', '--path', 'a.md', '--frontmatter', 'tags: x'],
      undefined,
      'BAD_REQUEST',
      /frontmatter must be an object/,
    ],
  ])('%s', async (_, args, input, code, says) => {
    const { status, stdout, stderr } = await owner.types(args(), input);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^error: [^\\n]+ \\(${code}\\)\\n$`));
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/\.\.( |$)|undefined|\[object/);
  });

  it('[FLR-all-mistakes] and a draft with many mistakes shows a person every one of them', async () => {
    const bundle = sampleFlow('flow_faulty', { steps: 3 });
    Object.assign(bundle.flow, { title: '', scope: 'galaxy', surprise: 1 });
    for (const step of bundle.steps) Object.assign(step, { trigger: undefined, automatable: 'sometimes' });
    const args = ['flow', 'propose', '-', '--intent', 'Many'];
    const { details } = await owner.isRefused(args, JSON.stringify(bundle));
    const places = (details.errors as { path: string }[]).map(({ path }) => path);
    expect(places).toHaveLength(9);
    const { status, stderr } = await owner.types(args, JSON.stringify(bundle));
    expect(status).toBe(1);
    for (const place of places) expect(stderr).toMatch(new RegExp(`^ +${place} \\S`, 'm'));
  });

  it('what the program cannot do ends with 2', async () => {
    const gone = personAt({ home: store.home, env: { FLOWRIGHT_HUB: 'http://127.0.0.1:9' } });
    for (const args of [
      ['proposal', 'list'],
      ['proposal', 'approve', NOBODY],
      ['policy', 'show'],
    ]) {
      expect(await gone.types(args)).toMatchObject({ status: 2, stderr: expect.stringContaining('HUB_UNREACHABLE') });
    }
  });
});
