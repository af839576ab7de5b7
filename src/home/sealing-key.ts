import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { refusal } from '../kernel/errors.ts';
import { SEAL_KEY_BYTES } from '../kernel/seal.ts';
import { syncFolder, writeDurably } from './durable-file.ts';
import { unusableFolder } from './unusable-folder.ts';

/** The key that seals what is stored of other systems' secrets; made on first use, readable by its owner alone. */
export function sealingKey(path: string): Buffer {
  const key = readSealingKey(path);
  if (key) return key;
  makeKey(path);
  return readSealingKey(path) ?? lost(path);
}

/**
 * The key as `sealingKey` gives it, where something may be sealed already: then a missing file was lost, and a new key
 * in its place would hide that until somebody needs what the old one sealed.
 */
export function keptSealingKey(path: string, isInUse: boolean): () => Buffer {
  let mayMake = !isInUse;
  return () => {
    const key = mayMake ? sealingKey(path) : (readSealingKey(path) ?? lost(path));
    mayMake = false;
    return key;
  };
}

/** Null when there is none. */
export function readSealingKey(path: string): Buffer | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw refusal('CONFIG_INVALID', `${path} cannot be read (${code}): check its permissions.`);
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length === SEAL_KEY_BYTES) return key;
  throw refusal(
    'CONFIG_INVALID',
    `${path} does not hold a key of ${SEAL_KEY_BYTES} bytes. Put the file back from a backup.`,
  );
}

/** What to do about a key that is gone. */
export function lostKeyAdvice(path: string): string {
  return `Put it back from a backup. If it is lost for good, make a new one with \`openssl rand -base64 32 > ${path}\`: what the old one sealed stays closed then, keys of servers have to be added again, and the history of chatflows keeps everything but their content.`;
}

function lost(path: string): never {
  throw refusal(
    'SEALED_ELSEWHERE',
    `${path} is missing, and the database holds what was sealed with it. ${lostKeyAdvice(path)}`,
  );
}

/** Written aside and linked into place, so that of two processes that start at once both use the same key. */
function makeKey(path: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeDurably(draft, `${randomBytes(SEAL_KEY_BYTES).toString('base64')}\n`);
    linkSync(draft, path);
    syncFolder(dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusableFolder(dirname(path), error);
  } finally {
    rmSync(draft, { force: true });
  }
}
