import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** What a run leaves lying at its peak, several times over. */
const WANTED_BYTES = 4 * 1024 ** 3;

/**
 * Lets the run keep its temporary files in memory where the machine has room for them: tests end processes, never the
 * machine, so nothing they prove needs a disk, and waiting for one took a third of the time. TMPDIR wins over it.
 */
export function useMemoryFolder(): () => void {
  if (process.env.TMPDIR || !hasRoom()) return () => {};
  forgetKilledRuns();
  const folder = mkdtempSync(join(MEMORY, `flowright-run-${process.pid}-`));
  // PostgreSQL runs as a user of its own where root starts it.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => {
    delete process.env.TMPDIR;
    rmSync(folder, { recursive: true, force: true });
  };
}

/** A run that is killed leaves its folder, and memory is not swept by anybody else. */
function forgetKilledRuns(): void {
  for (const name of readdirSync(MEMORY)) {
    const [, pid] = /^flowright-run-(\d+)-/.exec(name) ?? [];
    if (pid && !isAlive(Number(pid))) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= WANTED_BYTES;
  } catch {
    return false;
  }
}
