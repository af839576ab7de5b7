import type { Command } from 'commander';
import { FlowrightError } from '../../../kernel/errors.ts';
import { inert } from '../../../kernel/terminal.ts';
import { ABSENT_NOTE_STATE_ID } from '../../../vault/index.ts';
import { readNoteFile } from '../note-file.ts';
import { descend } from '../operation-command.ts';
import { operationNamed } from '../operation-named.ts';
import type { Cli } from '../run.ts';

interface Written {
  path: string;
  state_id: string;
  written: boolean;
  kept_aside: string | null;
}

export function register(program: Command, cli: Cli): void {
  descend(program, ['note', 'put'])
    .argument('<path>', 'path of the note in the vault, such as projects/plan.md')
    .description('Write a note from a file')
    .requiredOption('--file <file>', 'the whole note with its front block; - for standard input')
    .option('--base-state-id <text>', 'state id of the note you changed, as `note get --json` shows it')
    .option('--force', 'write over the note as it is now, whoever changed it')
    .addHelpText(
      'after',
      '\nExamples:\n  flowright note put projects/plan.md --file plan.md\n  flowright note put inbox/idea.md --file - < idea.md',
    )
    .action((path: string, options: { file: string; baseStateId?: string; force?: boolean }) =>
      putNote(path, options, cli),
    );
}

async function putNote(
  path: string,
  options: { file: string; baseStateId?: string; force?: boolean },
  cli: Cli,
): Promise<void> {
  const { frontmatter, body } = readNoteFile(options.file);
  const base_state_id = options.baseStateId ?? (options.force ? await presentStateId(path, cli) : undefined);
  const answer = await cli.ask(await operationNamed('note.put'), {
    path,
    body,
    frontmatter,
    ...(base_state_id === undefined ? {} : { base_state_id }),
  });
  cli.print(cli.options().json ? answer : inert(summary(JSON.parse(answer) as Written)));
}

async function presentStateId(path: string, cli: Cli): Promise<string> {
  try {
    const note = JSON.parse(await cli.ask(await operationNamed('note.get'), { path })) as { state_id: string };
    return note.state_id;
  } catch (error) {
    if (error instanceof FlowrightError && error.code === 'NOT_FOUND') return ABSENT_NOTE_STATE_ID;
    throw error;
  }
}

function summary({ path, state_id, written, kept_aside }: Written): string {
  const outcome = written ? `${path} is written` : `${path} will be written as soon as the disk allows`;
  const aside = kept_aside ? `\nSomebody edited it at the same moment; that text is kept as ${kept_aside}.` : '';
  return `${outcome} (${state_id}).${aside}`;
}
