import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { filesIn } from '../data-integrity/vault-files.ts';
import { onFirst, onFirstDatabase, type TestStore } from '../support/databases.ts';
import { flowright, flowrightJson, type ProgramOptions, startHub } from '../support/program.ts';

interface Written {
  state_id: string;
  written: boolean;
}
interface Note {
  frontmatter: Record<string, unknown>;
  body: string;
  state_id: string;
}

onFirstDatabase((engine, makeStore) => {
  const once = onFirst(engine);
  let store: TestStore;
  let options: ProgramOptions;
  let vault: string;

  beforeEach(async () => {
    store = await makeStore();
    options = { home: store.home, databaseUrl: store.databaseUrl };
    vault = join(store.home, 'vaults', 'default');
  });
  afterEach(() => store.remove());

  const run = (...args: string[]) => flowright(args, options);
  const typed = (input: string, ...args: string[]) => flowright(args, { ...options, input });

  describe('[FLR-notes] notes at the command line', () => {
    it('are written from a file, read, listed, and found on the disk', async () => {
      expect(await run('note', 'list')).toMatchObject({ status: 0, stdout: '(no notes)\n' });
      const file = join(store.home, 'draft.md');
      writeFileSync(file, '---\ntitle: Plan\ntags: [a, b]\nversion: "1.0"\n---\n# Plan\n\nFirst.\n');
      const put = await run('note', 'put', 'projects/plan.md', '--file', file);
      expect(put).toMatchObject({ status: 0, stderr: '' });
      expect(put.stdout).toMatch(/^projects\/plan\.md is written \(kn1_[0-9a-f]{16}\)\.\n$/);
      const onDisk = readFileSync(join(vault, 'projects/plan.md'), 'utf8');
      expect(onDisk).toMatch(/^---\ntitle: Plan\ntags:\n {2}- a\n {2}- b\nversion: "1\.0"\nauthor_kind: human\n/);
      expect(onDisk).toMatch(/\n---\n# Plan\n\nFirst\.\n$/);
      expect((await run('note', 'get', 'projects/plan.md')).stdout).toBe(onDisk);
      expect((await run('note', 'list')).stdout).toMatch(/^MODIFIED +BYTES +PATH\n\S+ +\d+ +projects\/plan\.md\n$/);
      const note = await flowrightJson<Note>(['note', 'get', 'projects/plan.md'], options);
      expect(note.frontmatter).toMatchObject({ title: 'Plan', tags: ['a', 'b'], version: '1.0' });
    });

    it('are written from standard input, and over what is there', async () => {
      const write = (text: string, ...more: string[]) =>
        typed(text, 'note', 'put', 'inbox/a.md', '--file', '-', '--json', ...more);
      const first = JSON.parse((await write('one')).stdout) as Written;
      expect(first).toMatchObject({ written: true });
      const blind = await write('two');
      expect([blind.status, JSON.parse(blind.stderr).code]).toEqual([1, 'CONFLICT']);
      expect((await write('two', '--force')).status).toBe(0);
      const stale = await write('three', '--base-state-id', first.state_id);
      expect([stale.status, stale.stdout]).toEqual([1, '']);
      expect(JSON.parse(stale.stderr)).toMatchObject({
        code: 'CONFLICT',
        details: { current_state_id: expect.any(String) },
      });
      const { current_state_id } = JSON.parse(stale.stderr).details;
      expect((await write('three', '--base-state-id', current_state_id)).status).toBe(0);
      expect((await flowrightJson<Note>(['note', 'get', 'inbox/a.md'], options)).body).toBe('three');
    });

    once('are refused with a reason and a way on', async () => {
      const refused = async (input: string, ...args: string[]) => {
        const { status, stdout, stderr } = await typed(input, ...args);
        expect([status, stdout]).toEqual([1, '']);
        return stderr;
      };
      expect(await refused('x', 'note', 'put', 'meta/flows/a.md', '--file', '-')).toMatch(
        /propose a change.*FORBIDDEN/,
      );
      expect(await refused('x', 'note', 'put', '../a.md', '--file', '-')).toMatch(/begins with a dot.*BAD_REQUEST/);
      expect(await refused('---\na: "\n---\n', 'note', 'put', 'a.md', '--file', '-')).toMatch(
        /not a sound note.*BAD_REQUEST/,
      );
      expect(await refused('', 'note', 'put', 'a.md')).toMatch(/--file.*USAGE_ERROR/);
      expect(await refused('', 'note', 'put', 'a.md', '--file', '/no/such/file')).toMatch(/ENOENT.*USAGE_ERROR/);
      expect(await refused('', 'note', 'get', 'a.md')).toMatch(/There is no note a\.md.*NOT_FOUND/);
    });

    once('show text of others as text: a terminal obeys none of it', async () => {
      mkdirSync(vault, { recursive: true });
      writeFileSync(join(vault, 'evil.md'), '---\ntitle: "\\e[2J"\n---\nclear: \u001b[2J, turned: \u202e\n');
      const { stdout } = await run('note', 'get', 'evil.md');
      for (const obeyed of ['\u001b', '\u202e']) expect(stdout).not.toContain(obeyed);
      expect(stdout).toContain('\\u001b[2J');
      expect((await flowrightJson<Note>(['note', 'get', 'evil.md'], options)).body).toContain('\u001b[2J');
    });

    once('are listed in pages that say how to go on', async () => {
      for (const name of ['a', 'b', 'c']) await typed(name, 'note', 'put', `${name}.md`, '--file', '-');
      const first = await run('note', 'list', '--limit', '2');
      expect(first.stdout).toContain('(more: --cursor "b.md")');
      const second = await run('note', 'list', '--limit', '2', '--cursor', 'b.md');
      expect(second.stdout).toMatch(/ c\.md\n$/);
    });
  });

  it('[FLR-notes] the same commands work through a hub, and see the same notes', async () => {
    await typed('local', 'note', 'put', 'a.md', '--file', '-');
    const { token } = await flowrightJson<{ token: string }>(['token', 'create', '--user', 'local'], options);
    const hub = await startHub(options);
    const env = { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token };
    const remote = { home: join(store.home, 'client'), env };
    try {
      const there = await flowrightJson<Note>(['note', 'get', 'a.md'], remote);
      expect(there).toEqual(await flowrightJson<Note>(['note', 'get', 'a.md'], options));
      const put = await flowright(['note', 'put', 'x/ü & b?.md', '--file', '-'], { ...remote, input: 'remote' });
      expect(put).toMatchObject({ status: 0, stderr: '' });
      expect(await flowrightJson<Note>(['note', 'get', 'x/ü & b?.md'], options)).toMatchObject({ body: 'remote' });
      expect(Object.keys(filesIn(vault))).toEqual(['a.md', 'x/ü & b?.md']);
    } finally {
      await hub.stop();
    }
  });

  once('[FLR-notes] vaults_dir puts the notes elsewhere', async () => {
    const elsewhere = { ...options, env: { FLOWRIGHT_VAULTS_DIR: join(store.home, 'notes of all') }, input: 'x' };
    expect((await flowright(['note', 'put', 'a.md', '--file', '-'], elsewhere)).status).toBe(0);
    expect(Object.keys(filesIn(join(store.home, 'notes of all')))).toEqual(['default/a.md']);
    expect((await run('note', 'get', 'a.md')).status).toBe(1);
  });
});
