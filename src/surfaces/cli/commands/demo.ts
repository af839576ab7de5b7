import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { refusal } from '../../../kernel/errors.ts';
import { inertLine } from '../../../kernel/terminal.ts';
import { type Asking, asking } from '../asking.ts';
import { descend } from '../operation-command.ts';
import { operationNamed } from '../operation-named.ts';
import type { Cli } from '../run.ts';
import { followRun } from '../watch-run.ts';

const MAX_PAGE = 200;
const UNANSWERED = 'The question is left open. `flowright task list` shows it.';

export function register(program: Command, cli: Cli): void {
  descend(program, ['demo'])
    .description('Run the two example flowcharts, without a model or a key, and look on')
    .addHelpText(
      'after',
      '\nOne of them asks a person; on a terminal that is you, else it is answered with yes.\n\nExamples:\n  flowright demo\n  flowright demo --yes',
    )
    .action(() => asking(cli, (questions) => demo(cli, questions)));
}

async function demo(cli: Cli, questions: Asking): Promise<void> {
  const { loadExamples } = await import('../../../flowcharts/index.ts');
  for (const { file } of loadExamples()) {
    const { name, description } = file.flowchart as { name: string; description?: string };
    say(cli, `\n${name}: ${description ?? ''}`);
    const flowchart_id = await idOf(name, file, questions);
    const run = (await questions.ask(await operationNamed('flowchart.run'), { flowchart_id })) as {
      flowchart_run: { id: number };
    };
    const runId = run.flowchart_run.id;
    let followed = await followRun(runId, cli, questions, { untilPeople: true });
    while (followed.waits) {
      await answerAll(runId, cli, questions);
      // A live view shows the whole run again; lines that were printed stay where they are.
      const after = process.stdout.isTTY ? 0 : followed.after;
      followed = await followRun(runId, cli, questions, { untilPeople: true, after });
    }
    if (followed.exitCode !== 0) {
      process.exitCode = followed.exitCode;
      return;
    }
    say(cli, `Look closer: flowright run show ${runId}, flowright flowchart get ${flowchart_id}`);
  }
  say(
    cli,
    '\nWhat they left: flowright memory list, flowright plan list, flowright milestone list, flowright artifact list',
  );
  await questions.settle();
}

/** What it tells belongs between the events, except where those are JSON for a program. */
function say(cli: Cli, text: string): void {
  if (cli.options().json) cli.tell(text);
  else cli.print(text);
}

/** The one that came with the program: the oldest of that name, or the example itself where nobody has it yet. */
async function idOf(name: string, file: Record<string, unknown>, { ask }: Asking): Promise<number> {
  const operation = await operationNamed('flowchart.list');
  const known: number[] = [];
  for (let offset = 0, total = 1; offset < total; offset += MAX_PAGE) {
    const page = (await ask(operation, { limit: MAX_PAGE, offset })) as {
      flowcharts: { id: number; name: string }[];
      total_count: number;
    };
    known.push(...page.flowcharts.filter((flowchart) => flowchart.name === name).map(({ id }) => id));
    total = page.total_count;
  }
  if (known.length > 0) return Math.min(...known);
  const made = (await ask(await operationNamed('flowchart.import'), file)) as { flowchart: { id: number } };
  return made.flowchart.id;
}

async function answerAll(run_id: number, cli: Cli, { ask, drive }: Asking): Promise<void> {
  const { items } = (await ask(await operationNamed('task.list'), { run_id })) as {
    items: { task_id: number; title: string | null; prompt: string }[];
  };
  for (const { task_id, title, prompt } of items) {
    const approved = await decide(title ?? prompt, cli);
    await ask(await operationNamed('task.answer'), { task_id, answer: { approved } });
  }
  drive(run_id);
}

/** What is asked stands in the view already; here only what to say to it. */
async function decide(what: string, cli: Cli): Promise<boolean> {
  if (cli.options().yes) {
    say(cli, 'Answered with yes, as --yes says.');
    return true;
  }
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    say(cli, 'Answered with yes, because nobody is at the terminal to be asked.');
    return true;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const gone = new Promise<never>((_, reject) => {
    // Ctrl-C and Ctrl-D leave the question open.
    terminal.once('close', () => reject(refusal('USAGE_ERROR', UNANSWERED)));
  });
  gone.catch(() => {});
  try {
    for (;;) {
      const question = terminal.question(`${inertLine(what)}: yes or no? [Y/n] `);
      // What a closed terminal makes of the question depends on the version of Node.
      const answer = await Promise.race([question.catch(() => gone), gone]);
      const meant = yesOrNo(answer);
      if (meant !== null) return meant;
    }
  } catch (error) {
    cli.tell('');
    throw error;
  } finally {
    terminal.close();
  }
}

/** Enter is a yes; what is neither is asked again. */
function yesOrNo(answer: string): boolean | null {
  const word = answer.trim().toLowerCase();
  if (word === '' || word === 'y' || word === 'yes') return true;
  return word === 'n' || word === 'no' ? false : null;
}
