import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { inert } from '../../../kernel/terminal.ts';
import { type Asking, asking } from '../asking.ts';
import { descend } from '../operation-command.ts';
import { operationNamed } from '../operation-named.ts';
import type { Cli } from '../run.ts';
import { followRun } from '../watch-run.ts';

const MAX_PAGE = 200;

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
    cli.tell(`\n${name}: ${description ?? ''}`);
    const flowchart_id = await idOf(name, file, questions);
    const run = (await questions.ask(await operationNamed('flowchart.run'), { flowchart_id })) as {
      flowchart_run: { id: number };
    };
    const runId = run.flowchart_run.id;
    let followed = await followRun(runId, cli, questions, { untilPeople: true });
    while (followed.exitCode === 0 && followed.waiting.length > 0) {
      await answerAll(runId, cli, questions);
      // A live view shows the whole run again; lines that were printed stay where they are.
      const after = process.stdout.isTTY ? 0 : followed.after;
      followed = await followRun(runId, cli, questions, { untilPeople: true, after });
    }
    if (followed.exitCode !== 0) {
      process.exitCode = followed.exitCode;
      return;
    }
    cli.tell(`Look closer: flowright run show ${runId}, flowright flowchart get ${flowchart_id}`);
  }
  cli.tell(
    '\nWhat they left: flowright memory list, flowright plan list, flowright milestone list, flowright artifact list',
  );
  await questions.settle();
}

/** The one of that name, or the example itself where nobody has it yet. */
async function idOf(name: string, file: Record<string, unknown>, { ask }: Asking): Promise<number> {
  const list = (await ask(await operationNamed('flowchart.list'), { limit: MAX_PAGE })) as {
    flowcharts: { id: number; name: string }[];
  };
  const known = list.flowcharts.find((flowchart) => flowchart.name === name);
  if (known) return known.id;
  const made = (await ask(await operationNamed('flowchart.import'), file)) as { flowchart: { id: number } };
  return made.flowchart.id;
}

async function answerAll(run_id: number, cli: Cli, { ask, drive }: Asking): Promise<void> {
  const { items } = (await ask(await operationNamed('task.list'), { run_id })) as {
    items: { task_id: number; prompt: string }[];
  };
  for (const { task_id, prompt } of items) {
    const approved = await decide(prompt, cli);
    await ask(await operationNamed('task.answer'), { task_id, answer: { approved } });
  }
  drive(run_id);
}

async function decide(prompt: string, cli: Cli): Promise<boolean> {
  const isAsked = process.stdin.isTTY && process.stdout.isTTY && !cli.options().yes;
  if (!isAsked) {
    cli.tell(`${inert(prompt)}\nAnswered with yes, because nobody is at the terminal to be asked.`);
    return true;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(`\n${inert(prompt)}\nYes or no? [Y/n] `);
    return !/^n/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
