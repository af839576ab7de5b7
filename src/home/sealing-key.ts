import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { refusal } from '../kernel/errors.ts';
import { SEAL_KEY_BYTES } from '../kernel/seal.ts';
import { syncFolder, writeDurably } from './durable-file.ts';

/** The key that seals what is stored of other systems' secrets; made on first use, readable by its owner alone. */
export function sealingKey(path: string): Buffer {
  if (!existsSync(path)) makeKey(path);
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
  if (key.length === SEAL_KEY_BYTES) return key;
  throw refusal(
    'CONFIG_INVALID',
    `${path} does not hold a key of ${SEAL_KEY_BYTES} bytes. Put the file back from a backup.`,
  );
}

/** Written aside and linked into place, so that of two processes that start at once both use the same key. */
function makeKey(path: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeDurably(draft, `${randomBytes(SEAL_KEY_BYTES).toString('base64')}\n`);
  try {
    linkSync(draft, path);
    syncFolder(dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
