import type { Command } from 'commander';
import { refusal } from '../../../kernel/errors.ts';
import { toJson } from '../../../operations/index.ts';
import { type Asking, asking } from '../asking.ts';
import { jsonObject } from '../json-file.ts';
import { descend } from '../operation-command.ts';
import { operationNamed } from '../operation-named.ts';
import type { Cli } from '../run.ts';
import { type Followed, followRun } from '../watch-run.ts';

const EXAMPLES = `
Shows how the run goes on until it ends or waits for people. Without a hub this process walks it.
Ends with 0 when the run completes or waits for people, 2 when it fails, 1 when it is stopped or you leave.

Examples:
  flowright flowchart run 1
  flowright flowchart run 1 --input '{"version": "2.1"}'
  flowright flowchart run 1 --detach --hub http://127.0.0.1:7480`;

interface Options {
  input?: string;
  startNodeId?: string;
  idempotencyKey?: string;
  detach?: boolean;
}

export function register(program: Command, cli: Cli): void {
  descend(program, ['flowchart', 'run'])
    .description('Start a run of a flowchart and follow it')
    .argument('<flowchart_id>', 'Id of the flowchart')
    .option('--input <json>', 'what the run is given: a JSON object, or @file')
    .option('--start-node-id <number>', 'the node to begin with instead of the start node')
    .option('--idempotency-key <text>', 'the same key gives the same run, for a day')
    .option('--detach', 'do not follow it')
    .addHelpText('after', EXAMPLES)
    .action((flowchartId: string, options: Options) => run(flowchartId, options, cli));
}

async function run(flowchartId: string, options: Options, cli: Cli): Promise<void> {
  const operation = await operationNamed('flowchart.run');
  const input = {
    flowchart_id: wholeNumber(flowchartId, 'The id of a flowchart'),
    ...(options.input === undefined ? {} : { input: jsonObject(options.input, '--input') }),
    ...(options.startNodeId === undefined
      ? {}
      : { start_node_id: wholeNumber(options.startNodeId, '--start-node-id') }),
    ...(options.idempotencyKey === undefined ? {} : { idempotency_key: options.idempotencyKey }),
  };
  await asking(cli, async (questions) => {
    const payload = (await questions.ask(operation, input)) as { flowchart_run: { id: number } };
    const follows = !cli.options().json && !options.detach;
    if (!follows) cli.print(cli.options().json ? toJson(payload) : await rendered(operation, payload));
    if (follows && (await follow(payload.flowchart_run.id, cli, questions)).left) return;
    await questions.settle();
  });
}

async function follow(runId: number, cli: Cli, questions: Asking): Promise<Followed> {
  const followed = await followRun(runId, cli, questions, { untilPeople: true });
  process.exitCode = followed.exitCode;
  if (followed.waits) cli.print(`Once it is answered, the run goes on. Watch it with: flowright run watch ${runId}`);
  return followed;
}

async function rendered(operation: Awaited<ReturnType<typeof operationNamed>>, payload: unknown): Promise<string> {
  return (await operation.cli?.render(payload)) ?? '';
}

function wholeNumber(text: string, what: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw refusal('USAGE_ERROR', `${what} is a whole number.`);
  return Number(text);
}
