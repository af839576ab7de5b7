import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSnapshot } from '../../src/knowledge/snapshot-file.ts';
import { bundled } from '../support/bundled.ts';
import { tempFolder } from '../support/home.ts';

const WRITER = fileURLToPath(new URL('./snapshot-writer.ts', import.meta.url));
const KIND = 'flowise_templates';

function namesIn(folder: string): string[] {
  const reading = readSnapshot(folder, KIND);
  expect(reading.state).toMatch(/^(ok|missing)$/);
  return reading.state === 'ok' ? reading.items.map((item) => (item as { name: string }).name) : [];
}

/** What it said it kept, and its end. */
function listen(child: ChildProcessWithoutNullStreams): { kept: string[]; ended: Promise<unknown> } {
  const kept: string[] = [];
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    kept.push(...lines);
  });
  return { kept, ended: once(child, 'close') };
}

describe('a snapshot that several processes write', () => {
  it('loses nothing that was kept, though some are killed on the way [FLR-knowledge-crash-safe] [FLR-knowledge-merge-under-lock]', async () => {
    const script = await bundled(WRITER);
    onTestFinished(script.remove);
    const folder = tempFolder();
    const start = (name: string, count: number) => {
      const child = spawn(process.execPath, [script.file, folder, name, String(count)]);
      return { child, ...listen(child) };
    };
    const steady = [start('a', 30), start('b', 30)];
    const killed: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      const victim = start(`k${round}-`, 10_000);
      // Dies wherever it is after a few writes, with or without the lock.
      await new Promise<void>((resolve) => {
        victim.child.stdout.on('data', () => victim.kept.length > round && resolve());
        victim.child.on('close', () => resolve());
      });
      victim.child.kill('SIGKILL');
      await victim.ended;
      killed.push(...victim.kept);
      namesIn(folder);
    }
    await Promise.all(steady.map(({ ended }) => ended));
    const names = new Set(namesIn(folder));
    const kept = [...steady.flatMap((writer) => writer.kept), ...killed];
    expect(steady.map((writer) => writer.kept.length)).toEqual([30, 30]);
    expect(kept.filter((name) => !names.has(name))).toEqual([]);
  });
});
