import type { Command } from 'commander';
import { inert } from '../../../kernel/terminal.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';

export function register(program: Command, cli: Cli): void {
  descend(program, ['doctor'])
    .description('Check settings, folder, database, identity and port; say how to mend what is wrong')
    .action(async () => {
      const { examine } = await import('../../../doctor/index.ts');
      const findings = await examine(() => cli.settings());
      const isSound = findings.every(({ state }) => state !== 'wrong');
      if (cli.options().json) cli.print(JSON.stringify({ ok: isSound, findings }));
      else
        for (const { state, what, fix } of findings)
          cli.print(inert(`${MARKS[state]} ${what}${fix ? `\n       ${fix}` : ''}`));
      if (!isSound) process.exitCode = 1;
    });
}

const MARKS = { good: ' ok   ', warning: ' warn ', wrong: ' FAIL ' };
