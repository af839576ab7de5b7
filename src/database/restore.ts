import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import type BetterSqlite3 from 'better-sqlite3';
import { refusal } from '../kernel/errors.ts';
import { SCHEMA_VERSION } from './migrate.ts';

/**
 * Puts a backup in the place of the embedded database. The present file is kept under another name; returns which.
 * The copy is made and checked beside the target first and takes its place in one rename, so that a crash leaves the
 * old database or the new one.
 */
export async function restoreSqlite(backup: string, target: string, stamp: string): Promise<string | null> {
  if (!existsSync(backup)) throw refusal('BACKUP_INVALID', `There is no file ${backup}.`);
  const { default: Sqlite } = await import('better-sqlite3');
  const draft = `${target}.${process.pid}.restore`;
  try {
    await copySound(Sqlite, backup, draft);
    const aside = existsSync(target) ? setAside(Sqlite, target, `${target}.before-restore-${stamp}`) : null;
    renameSync(draft, target);
    return aside;
  } finally {
    rmSync(draft, { force: true });
  }
}

async function copySound(Sqlite: typeof BetterSqlite3, backup: string, draft: string): Promise<void> {
  const { APPLICATION_ID } = await import('./sqlite.ts');
  let source: BetterSqlite3.Database | undefined;
  try {
    source = new Sqlite(backup, { readonly: true });
    const isOurs = source.pragma('application_id', { simple: true }) === APPLICATION_ID;
    const isKnown = (source.pragma('user_version', { simple: true }) as number) <= SCHEMA_VERSION;
    const isSound = source.pragma('integrity_check', { simple: true }) === 'ok';
    if (!isOurs || !isKnown || !isSound) throw new Error('it is not a sound database of this program');
    await source.backup(draft);
  } catch (error) {
    throw refusal('BACKUP_INVALID', `${backup} is not a sound Flowright backup. Nothing was changed.`, {
      reason: (error as Error).message,
    });
  } finally {
    source?.close();
  }
}

/** Gives the present database a second name. Its log is folded in first, since it belongs to the file's name. */
function setAside(Sqlite: typeof BetterSqlite3, target: string, aside: string): string {
  try {
    const present = new Sqlite(target);
    present.pragma('wal_checkpoint(TRUNCATE)');
    present.close();
  } catch {
    // A damaged database has nothing to fold in; it is kept as it is, log included.
    for (const suffix of ['-wal', '-shm']) if (existsSync(target + suffix)) renameSync(target + suffix, aside + suffix);
  }
  if (existsSync(`${target}-wal`)) {
    throw refusal('HUB_RUNNING', 'Another program has this database open. Stop it first; nothing was changed.');
  }
  linkSync(target, aside);
  return aside;
}
