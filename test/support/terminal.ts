import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { MAIN, type ProgramOptions, programEnv } from './program.ts';

/** A real terminal with the program in it, and somebody who looks at the screen and presses keys. */
export interface Terminal {
  /** Waits until the screen shows it; the whole screen then, colours as escape sequences. */
  shows(pattern: RegExp): Promise<string>;
  presses(...keys: string[]): Promise<void>;
  close(): Promise<void>;
}

const run = promisify(execFile);
const WAIT_MS = 20_000;

export const HAS_TMUX = spawnSync('tmux', ['-V']).status === 0;

/** Ends with the line `ended with <exit code>`. */
export async function openTerminal(folder: string, args: string[], options: ProgramOptions): Promise<Terminal> {
  const sockets = join(folder, 'tmux');
  mkdirSync(sockets, { recursive: true });
  const settings = join(folder, 'tmux.conf');
  writeFileSync(settings, 'set -g default-terminal screen-256color\nset -g status off\n');
  const colour = { NO_COLOR: '', TMUX: '', TMUX_TMPDIR: sockets };
  const env = programEnv({ ...options, env: { ...colour, ...options.env } });
  const tmux = (...words: string[]) => run('tmux', ['-u', '-L', 'test', '-f', settings, ...words], { env });
  const line = '"$@"; echo "ended with $?"; exec cat';
  const command = ['sh', '-c', line, 'sh', process.execPath, MAIN, ...args];
  await tmux('new-session', '-d', '-x', '120', '-y', '60', ...command);
  const screen = async () => (await tmux('capture-pane', '-p', '-e', '-J')).stdout;
  return {
    shows: (pattern) =>
      vi.waitFor(
        async () => {
          const shown = await screen();
          if (pattern.test(shown)) return shown;
          throw new Error(`${pattern} is not on the screen:\n${shown}`);
        },
        { timeout: WAIT_MS, interval: 50 },
      ),
    presses: async (...keys) => void (await tmux('send-keys', ...keys)),
    close: async () => void (await tmux('kill-server')),
  };
}
