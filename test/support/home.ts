import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A fresh folder that is removed when the test ends. Outside a test, remove it yourself with the second value. */
export function tempFolder(): string {
  const { folder, remove } = makeFolder();
  onTestFinished(remove);
  return folder;
}

export function makeFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'flowright-test-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
