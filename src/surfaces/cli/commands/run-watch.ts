import type { Command } from 'commander';
import { refusal } from '../../../kernel/errors.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';
import { watchRun } from '../watch-run.ts';

const EXAMPLES = `
Ends with 0 when the run completes, 2 when it fails, 1 when it is stopped or canceled or you leave.

Examples:
  flowright run watch 12
  flowright run watch 12 | tee run.log
  flowright run watch 12 --json`;

export function register(program: Command, cli: Cli): void {
  descend(program, ['run', 'watch'])
    .description('Follow a run until it ends; Ctrl-C leaves the run alone')
    .argument('<run_id>', 'Id of the run')
    .addHelpText('after', EXAMPLES)
    .action(async (text: string) => {
      if (!/^[1-9]\d{0,14}$/.test(text)) throw refusal('USAGE_ERROR', 'The id of a run is a number, as in `run list`.');
      process.exitCode = await watchRun(Number(text), cli);
    });
}
