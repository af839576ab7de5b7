import type { Command } from 'commander';
import { readNoteFile } from '../note-file.ts';
import { descend } from '../operation-command.ts';
import { operationNamed } from '../operation-named.ts';
import type { Cli } from '../run.ts';

interface Given {
  file: string;
  intent?: string;
  baseStateId?: string;
  labels?: string;
  idempotencyKey?: string;
}

export function register(program: Command, cli: Cli): void {
  descend(program, ['note', 'propose'])
    .argument('<path>', 'path of the note in the vault, such as projects/plan.md')
    .description('Propose a note from a file; nothing changes until somebody approves it')
    .requiredOption('--file <file>', 'the whole note with its front block; - for standard input')
    .option('--intent <text>', 'why')
    .option('--base-state-id <text>', 'state id of the note you changed; the present one when left out')
    .option('--labels <a,b>', 'words to find it by')
    .option('--idempotency-key <text>', 'your own key: sending it again gives the same proposal')
    .addHelpText('after', '\nExamples:\n  flowright note propose projects/plan.md --file plan.md --intent "New dates"')
    .action(async (path: string, options: Given) => {
      const wanted = {
        intent: options.intent,
        base_state_id: options.baseStateId,
        labels: options.labels?.split(',').map((label) => label.trim()),
        idempotency_key: options.idempotencyKey,
      };
      const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
      await cli.call(await operationNamed('proposal.create'), { path, ...readNoteFile(options.file), ...given });
    });
}
