import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Queries } from '../database/index.ts';

/** As the doctor shows it. */
export interface NoteFinding {
  state: 'good' | 'warning' | 'wrong';
  what: string;
  fix?: string;
}

/** Looks at the folder of notes and at files that are still to be written. */
export async function examineNotes(vaultsDir: string, queries: Queries): Promise<NoteFinding[]> {
  return [folderFinding(vaultsDir), await pendingFinding(queries)];
}

function folderFinding(vaultsDir: string): NoteFinding {
  // It is made with the first note, so what counts until then is the folder that will hold it.
  const folder = existsSync(vaultsDir) ? vaultsDir : nearestFolder(vaultsDir);
  const fix = `Give yourself the right to write in ${folder}, or set vaults_dir to another folder.`;
  try {
    if (!statSync(folder).isDirectory()) return { state: 'wrong', what: `${folder} is not a folder`, fix };
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return { state: 'wrong', what: `notes cannot be written in ${folder}`, fix };
  }
  return { state: 'good', what: `notes are kept in ${vaultsDir}` };
}

function nearestFolder(path: string): string {
  const above = dirname(path);
  return existsSync(above) || above === path ? above : nearestFolder(above);
}

async function pendingFinding(queries: Queries): Promise<NoteFinding> {
  const { waiting, oldest } = await queries
    .selectFrom('file_writes')
    .select(({ fn }) => [fn.countAll<number>().as('waiting'), fn.min('created_at').as('oldest')])
    .executeTakeFirstOrThrow();
  if (Number(waiting) === 0) return { state: 'good', what: 'no file is waiting to be written' };
  return {
    state: 'warning',
    what: `${waiting} files are waiting to be written, the oldest since ${oldest}`,
    fix: 'Make room on the disk or clear the way; `flowright note list` tries again and says what is wrong.',
  };
}
