import { existsSync, renameSync, rmSync } from 'node:fs';
import { refusal } from '../kernel/errors.ts';
import { SCHEMA_VERSION } from './migrate.ts';

/**
 * Puts a backup in the place of the embedded database. The present file is moved aside, never deleted; returns where.
 * The copy is made and checked beside the target first, so that a crash leaves the old database or the new one.
 */
export async function restoreSqlite(backup: string, target: string, stamp: string): Promise<string | null> {
  if (!existsSync(backup)) throw refusal('BACKUP_INVALID', `There is no file ${backup}.`);
  const { default: BetterSqlite3 } = await import('better-sqlite3');
  const { APPLICATION_ID } = await import('./sqlite.ts');
  const draft = `${target}.${process.pid}.restore`;
  let source: InstanceType<typeof BetterSqlite3> | undefined;
  try {
    source = new BetterSqlite3(backup, { readonly: true });
    const ours = source.pragma('application_id', { simple: true }) === APPLICATION_ID;
    const version = source.pragma('user_version', { simple: true }) as number;
    const sound = source.pragma('integrity_check', { simple: true }) === 'ok';
    if (!ours || !sound || version > SCHEMA_VERSION) throw new Error('not a sound backup');
    await source.backup(draft);
  } catch (error) {
    rmSync(draft, { force: true });
    throw refusal('BACKUP_INVALID', `${backup} is not a sound Flowright backup. Nothing was changed.`, {
      reason: (error as Error).message,
    });
  } finally {
    source?.close();
  }
  const aside = existsSync(target) ? `${target}.before-restore-${stamp}` : null;
  if (aside) for (const suffix of ['-wal', '-shm', '']) moveIfThere(target + suffix, aside + suffix);
  renameSync(draft, target);
  return aside;
}

function moveIfThere(from: string, to: string): void {
  if (existsSync(from)) renameSync(from, to);
}
