import { createInterface } from 'node:readline/promises';
import { refusal } from '../../kernel/errors.ts';
import type { Cli } from './run.ts';

/** Asks before something is removed, or written elsewhere. Where nobody can answer, --yes must say so. */
export async function confirm(act: { summary: string; removes?: boolean }, cli: Cli): Promise<void> {
  if (cli.options().yes) return;
  const what = act.removes === false ? act.summary : `This removes something: ${act.summary}`;
  const stop = refusal('CONFIRMATION_REQUIRED', `${what}. Repeat the command with --yes.`);
  if (!process.stdin.isTTY || cli.options().json) throw stop;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const question = act.removes === false ? `${act.summary}?` : `${act.summary}. Go on?`;
  // Ctrl-C and Ctrl-D are a no.
  const answer = await terminal.question(`${question} [y/N] `).catch(() => {
    process.stderr.write('\n');
    return '';
  });
  terminal.close();
  if (/^y(es)?$/i.test(answer.trim())) return;
  throw act.removes === false ? refusal('CONFIRMATION_REQUIRED', 'Nothing was written.') : stop;
}
