import { readFileSync } from 'node:fs';

export interface RunningProcess {
  pid: number;
  /** The kernel's start time of that process, so that a reused pid is not mistaken for it. Empty where unknown. */
  started: string;
}

export function thisProcess(): RunningProcess {
  return { pid: process.pid, started: processStart(process.pid) };
}

export function isAlive({ pid, started }: RunningProcess): boolean {
  return started === '' ? isRunning(pid) : processStart(pid) === started;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function processStart(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // One that has ended and whose parent has not looked yet does nothing any more.
    return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : (fields[19] ?? '');
  } catch {
    return '';
  }
}
