import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../src/home/index.ts';
import { replaceFile } from '../../src/surfaces/cli/generated-file.ts';
import { tempFolder } from '../support/home.ts';
import { refreshScene, smallFlowise } from './refresh-scene.ts';

/** It is there, and says that nothing can be in it. */
const NOWHERE = '/proc/nope';
const HAS_PROC = existsSync('/proc/self');

function inPlaceOfAFolder(): string {
  const path = join(tempFolder(), 'taken');
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, 'a file');
  return path;
}

describe('[FLR-refresh-folder-fault] a folder that cannot be written', () => {
  it.each([
    ['a file in its place', inPlaceOfAFolder, true],
    ['a file above it', () => join(inPlaceOfAFolder(), 'schemas'), true],
    ['a file system that takes nothing', () => NOWHERE, HAS_PROC],
  ])('is a failed part that names it, and the status still answers: %s', async (_, place, isPossible) => {
    if (!isPossible) return;
    const folder = place();
    const fake = await smallFlowise();
    const scene = await refreshScene(fake, { env: { KNOWLEDGE_SCHEMAS_DIR: folder } });
    const { parts, exit_code } = await scene.refresh({ all: true });
    expect(exit_code).toBe(2);
    for (const part of parts) {
      expect(part).toMatchObject({ outcome: 'failed', error: { code: 'SNAPSHOT_INVALID' } });
      expect(part.line).toContain(folder);
      expect(part.line).toContain('KNOWLEDGE_SCHEMAS_DIR');
    }
    const status = await scene.ask('knowledge.status', {});
    expect(status.parts[0]).toMatchObject({ origin: 'baseline', items: 297 });
  });

  it('is told of the reference too', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake);
    const path = join(scene.folder, 'FLOWISE_NODE_REFERENCE.md.new');
    mkdirSync(join(path, 'in the way'), { recursive: true });
    const failing = await scene.refresh({ nodes: true, write_reference: true });
    expect(failing.parts[0]).toMatchObject({ outcome: 'failed', error: { code: 'SNAPSHOT_INVALID' } });
    expect(failing.parts[0].line).toContain(scene.folder);
    rmSync(path, { recursive: true });
    mkdirSync(join(scene.folder, 'FLOWISE_NODE_REFERENCE.md'));
    const unread = (await scene.refresh({ nodes: true })).parts[0];
    expect(unread.line).toMatch(/FLOWISE_NODE_REFERENCE\.md in .* cannot be read \(EISDIR\)/);
  });

  it('ends the making of a folder at once', () => {
    expect(() => makeFolder(inPlaceOfAFolder())).toThrow(/EEXIST/);
    if (HAS_PROC) expect(() => makeFolder(`${NOWHERE}/deeper`)).toThrow(/ENOENT|EACCES/);
    const folder = join(tempFolder(), 'a', 'b');
    makeFolder(folder);
    makeFolder(folder);
    expect(existsSync(folder)).toBe(true);
  });

  it.skipIf(!HAS_PROC)('ends an export with a sentence [FLR-chatflow-export-files]', () => {
    expect(() => replaceFile(join(NOWHERE, 'flow.json'), '{}')).toThrow(
      expect.objectContaining({ code: 'USAGE_ERROR', message: expect.stringContaining('--out') }),
    );
  });
});
