import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { flowright } from '../support/program.ts';

/** What people read in a terminal. The engine behind it does not matter here; first-use runs on both. */
describe('[S002-3-cli-json] without --json people get text', () => {
  let store: TestStore;
  const run = (...args: string[]) => flowright(args, { home: store.home });
  const text = async (...args: string[]) => {
    const { status, stdout, stderr } = await run(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  };

  beforeAll(async () => {
    store = await makeStore('sqlite');
  });
  afterAll(() => store.remove());

  it('list is a table with one line a flow and aligned columns', async () => {
    const lines = (await text('flow', 'list')).trimEnd().split('\n');
    const [header, ...rows] = lines;
    expect(header?.split(/ {2,}/)).toEqual(['FLOW', 'VERSION', 'SCOPE', 'STEPS', 'TITLE']);
    expect(rows).toHaveLength(6);
    const scopeAt = header?.indexOf('SCOPE') ?? 0;
    for (const row of rows) expect(row.slice(scopeAt)).toMatch(/^\[(personal|project)\] +\d+ +\S/);
    expect(rows.find((row) => row.startsWith('flow_overseer_handover'))).toMatch(
      /^flow_overseer_handover +0\.1\.0 +\[project\] +6 +Overseer handover$/,
    );
  });

  it('a list that was cut ends with (truncated)', async () => {
    const lines = (await text('flow', 'list', '--limit', '2')).trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toBe('(truncated)');
    expect(await text('flow', 'list', '--limit', '6')).not.toContain('(truncated)');
  });

  it('nothing to list or to find is (no flows)', async () => {
    expect(await text('flow', 'list', '--tag', 'no-such-tag')).toBe('(no flows)\n');
    expect(await text('flow', 'list', '--scope', 'org')).toBe('(no flows)\n');
    expect(await text('flow', 'search', 'xylophone')).toBe('(no flows)\n');
  });

  it('get is a card: id, version, scope, title, tags and each step with what proves it done', async () => {
    const lines = (await text('flow', 'get', 'flow_overseer_handover')).trimEnd().split('\n');
    expect(lines[0]).toBe('flow_overseer_handover 0.1.0 [project]');
    expect(lines[1]).toBe('Overseer handover');
    expect(lines.some((line) => /^tags: .*handover/.test(line))).toBe(true);
    expect(lines.filter((line) => /^\d+\. \S/.test(line)).map((line) => line[0])).toEqual([...'123456']);
    const proofs = lines.filter((line) => /^ {3}done when: \S.* \((human_review|artifact_exists)\)$/.test(line));
    expect(proofs).toHaveLength(6);
  });

  it('search is the same table, best match first', async () => {
    const [header, first] = (await text('flow', 'search', 'handover')).split('\n');
    expect(header).toMatch(/^FLOW +VERSION/);
    expect(first).toMatch(/^flow_overseer_handover /);
    const cut = await text('flow', 'search', 'reviewed', '--limit', '1');
    expect(cut.trimEnd().split('\n').at(-1)).toBe('(truncated)');
  });

  it('--json is one line of JSON with one line break, wherever the option stands', async () => {
    const after = await text('flow', 'list', '--json');
    expect(after).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(after)).toMatchObject({ schema: 'knowtation.flow_list/v0', vault_id: 'default' });
    expect(await text('--json', 'flow', 'list')).toBe(after);
    expect(await text('flow', '--json', 'list')).toBe(after);
  });

  it('the version is printed alone', async () => {
    expect(await text('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
