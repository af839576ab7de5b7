import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { flowright, flowrightJson, type ProgramOptions, startHub } from '../support/program.ts';

interface Uploaded {
  item: { id: number; file_name: string; content_type: string; size_bytes: number };
}

describe('[FLR-attachment-command] attachments at the command line', () => {
  let store: TestStore;
  let options: ProgramOptions;

  beforeEach(async () => {
    store = await makeStore('sqlite');
    options = { home: store.home };
  });
  afterEach(() => store.remove());

  const run = (...args: string[]) => flowright(args, options);
  const bytes = Buffer.from([0, 1, 2, 255, 10]);
  const uploadFile = (name: string) => {
    const file = join(store.home, name);
    writeFileSync(file, bytes);
    return flowrightJson<Uploaded>(['attachment', 'upload', file], options);
  };

  it('are uploaded from a file, listed, saved and deleted', async () => {
    const { item } = await uploadFile('chart.png');
    expect(item).toMatchObject({ file_name: 'chart.png', content_type: 'image/png', size_bytes: 5 });
    expect((await run('attachment', 'list')).stdout).toMatch(/^ATTACHMENT .*\n1 +5 +image\/png +\S+ +chart\.png\n$/);
    expect((await run('attachment', 'get', '1')).stdout).toContain('bound to nodes: (none)');
    const out = join(store.home, 'copy.png');
    const saved = await run('attachment', 'file', '1', '--out', out);
    expect(saved).toMatchObject({ status: 0, stdout: '' });
    expect(readFileSync(out).equals(bytes)).toBe(true);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect((await run('attachment', 'delete', '1', '--yes')).status).toBe(0);
    expect(await run('attachment', 'file', '1', '--out', join(store.home, 'none'))).toMatchObject({ status: 1 });
    expect(existsSync(join(store.home, 'none'))).toBe(false);
  });

  it('are saved over no file that is there, unless told so', async () => {
    await uploadFile('a.bin');
    const out = join(store.home, 'mine.txt');
    writeFileSync(out, 'mine');
    const refused = await run('attachment', 'file', '1', '--out', out);
    expect([refused.status, readFileSync(out, 'utf8')]).toEqual([1, 'mine']);
    expect(refused.stderr).toContain('--force');
    expect((await run('attachment', 'file', '1', '--out', out, '--force')).status).toBe(0);
    expect(readFileSync(out).equals(bytes)).toBe(true);
  });

  it('come from standard input and go to standard output', async () => {
    const nameless = await flowright(['attachment', 'upload', '-'], { ...options, input: 'hello' });
    expect(nameless).toMatchObject({ status: 1, stdout: '' });
    const upload = ['attachment', 'upload', '-', '--name', 'a.md', '--json'];
    const { stdout } = await flowright(upload, { ...options, input: 'hello' });
    expect(JSON.parse(stdout).item).toMatchObject({ content_type: 'text/markdown; charset=utf-8', size_bytes: 5 });
    expect(await run('attachment', 'file', '1', '--out', '-')).toMatchObject({ status: 0, stdout: 'hello' });
    const payload = await flowrightJson(['attachment', 'file', '1'], options);
    expect(payload).toMatchObject({ file_name: 'a.md', content_base64: 'aGVsbG8=' });
    expect(await run('attachment', 'file', '1')).toMatchObject({ status: 1, stdout: '' });
    expect(await run('attachment', 'upload', join(store.home, 'missing'))).toMatchObject({ status: 1, stdout: '' });
  });

  it('go to and come from a hub', async () => {
    const hub = await startHub(options);
    try {
      const { token } = await flowrightJson<{ token: string }>(['token', 'create', '--user', 'local'], options);
      const remote = { ...options, env: { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token } };
      const file = join(store.home, 'r.bin');
      writeFileSync(file, bytes);
      const { item } = await flowrightJson<Uploaded>(['attachment', 'upload', file], remote);
      const out = join(store.home, 'back.bin');
      expect((await flowright(['attachment', 'file', String(item.id), '--out', out], remote)).status).toBe(0);
      expect(readFileSync(out).equals(bytes)).toBe(true);
    } finally {
      await hub.stop();
    }
  });
});
