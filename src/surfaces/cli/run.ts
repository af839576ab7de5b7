import { Command, CommanderError } from 'commander';
import { packageVersion } from '../../home/index.ts';
import { asFlowrightError, FlowrightError, refusal } from '../../kernel/errors.ts';
import { newRequestId, REQUEST_ID_RE } from '../../kernel/ids.ts';
import { inert, inertButColours, wantsColour } from '../../kernel/terminal.ts';
import { type AnyOperation, errorEnvelope, toJson } from '../../operations/index.ts';
import { createCatalogue } from '../../rooms.ts';
import { loadSettings, type Settings } from '../../settings.ts';
import { confirm } from './confirm.ts';
import { commandWords, GLOBAL_OPTIONS, type GlobalOptions, settingsSource } from './global-options.ts';
import { LOCAL_COMMANDS, localCommands } from './local-commands.ts';
import { messageLines, type Wording } from './message-lines.ts';
import { addOperationCommand, descend } from './operation-command.ts';
import { withPatience } from './patience.ts';

/** Exit codes: 0 done, 1 usage or refused, 2 failed. */
const REFUSED = 1;
const FAILED = 2;

/** What a command may use: its options, the settings, a way to print, and the one way to call an operation. */
export interface Cli {
  options(): GlobalOptions;
  environment: NodeJS.ProcessEnv;
  settings(): Settings;
  requestId(): string;
  print(text: string): void;
  /** Says how errors of this command are to be worded for people. */
  word(wording: Wording): void;
  wording(): Wording;
  /** Progress and notices, apart from the answer. */
  tell(text: string): void;
  /** The payload as text, for a command that goes on working with it. */
  ask(operation: AnyOperation, input: Record<string, unknown>): Promise<string>;
  /** Asks, and prints the answer. */
  call(operation: AnyOperation, input: Record<string, unknown>): Promise<void>;
}

/** Runs one command line; resolves with the exit code. */
export async function runCli(argv: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const program = new Command('flowright');
  const cli = createCli(program, environment);
  const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  try {
    if (argv[0] === '--version' || argv[0] === '-V' || argv[0] === 'version') {
      cli.print(packageVersion());
      return 0;
    }
    await populate(program, commandWords(words), cli);
    if (words.length === 0) program.help();
    await program.parseAsync(words, { from: 'user' });
    return 0;
  } catch (thrown) {
    return report(thrown, argv, cli);
  }
}

function createCli(program: Command, environment: NodeJS.ProcessEnv): Cli {
  let settings: Settings | undefined;
  let requestId: string | undefined;
  let wording: Wording = { fields: {} };
  const cli: Cli = {
    environment,
    word: (chosen) => {
      wording = chosen;
    },
    wording: () => wording,
    options: () => program.opts<GlobalOptions>(),
    settings: () => {
      settings ??= loadSettings(settingsSource(cli.options(), environment));
      return settings;
    },
    requestId: () => {
      requestId ??= chooseRequestId(cli.options().requestId);
      return requestId;
    },
    print: (text) => void process.stdout.write(`${text}\n`),
    tell: (text) => void process.stderr.write(`${text}\n`),
    ask: async (operation, input) => {
      const { config } = cli.settings();
      return withPatience(operation.summary, async () =>
        config.hub_url
          ? (await import('./remote-call.ts')).callHub(operation, input, cli)
          : toJson(await (await import('./local-call.ts')).callLocally(operation, input, cli)),
      );
    },
    call: async (operation, input) => {
      if (operation.effect === 'destructive') await confirm(operation, cli);
      if (operation.cli?.askFirst && !input.dry_run && !cli.options().yes) await showAndAsk(operation, input, cli);
      const json = await cli.ask(operation, input);
      const { isBadNews } = operation.cli ?? {};
      cli.print(cli.options().json ? json : await forPeople(operation, json, environment));
      if (isBadNews?.(JSON.parse(json))) process.exitCode = REFUSED;
    },
  };
  return cli;
}

/** What would happen, told by a dry run; then the question. */
async function showAndAsk(operation: AnyOperation, input: Record<string, unknown>, cli: Cli): Promise<void> {
  const told = await cli.ask(operation, { ...input, dry_run: true });
  if (!cli.options().json) cli.tell(await forPeople(operation, told, cli.environment));
  await confirm({ summary: operation.summary, removes: false }, cli);
}

/** Whatever a hub sends, people get text that their terminal only shows. */
async function forPeople(operation: AnyOperation, json: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const { render, renderInColour } = operation.cli ?? {};
  if (renderInColour && wantsColour(environment, process.stdout.isTTY === true)) {
    return inertButColours(await renderInColour(JSON.parse(json)));
  }
  return render ? inert(await render(JSON.parse(json))) : json;
}

/** Gives the program its options and the command in use, or its whole namespace; of the others only the names. */
async function populate(program: Command, [namespace, command]: readonly string[], cli: Cli): Promise<void> {
  program.description('A workbench for work done by people and language models together');
  for (const option of GLOBAL_OPTIONS) program.addOption(option);
  program.helpCommand(false).configureHelp({ showGlobalOptions: true });
  const catalogue = createCatalogue();
  const withCommands = catalogue.namespaces().filter(({ summary }) => summary !== '');
  const names = new Map(withCommands.map(({ name, summary }) => [name, summary]));
  for (const { name, summary } of LOCAL_COMMANDS) if (!names.has(name)) names.set(name, summary);
  for (const [name, summary] of [...names].sort()) descend(program, [name]).description(summary);
  if (namespace !== undefined && names.has(namespace)) {
    for (const local of localCommands(namespace, command)) (await local.load()).register(program, cli);
    for (const operation of await catalogue.inNamespace(namespace, command))
      addOperationCommand(program, operation, cli);
    for (const command of catalogue.reservedCommands()) {
      const path = command.split(' ');
      if (path[0] === namespace) reserve(descend(program, path), command);
    }
  }
  // Errors are reported in one place, with the others; help is still printed by the parser.
  for (const command of everyCommand(program)) command.exitOverride().configureOutput({ outputError: () => {} });
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

function reserve(command: Command, name: string): void {
  command
    .description('reserved: not available yet')
    .allowUnknownOption()
    .allowExcessArguments()
    .helpOption(false)
    .action(() => {
      throw refusal(
        'FLOW_COMMAND_RESERVED',
        `\`${name}\` is gated and not in this version. Flows can be read with \`flow list\`, \`flow get\` and \`flow search\`.`,
      );
    });
}

function chooseRequestId(given: string | undefined): string {
  if (given === undefined) return newRequestId();
  if (REQUEST_ID_RE.test(given)) return given;
  throw refusal('USAGE_ERROR', '--request-id takes 1 to 128 letters, digits, dots, colons, - and _.');
}

function report(thrown: unknown, argv: readonly string[], cli: Cli): number {
  if (thrown instanceof CommanderError && (thrown.exitCode === 0 || thrown.code === 'commander.help')) {
    return thrown.exitCode === 0 ? 0 : REFUSED;
  }
  const error = thrown instanceof CommanderError ? usageError(thrown) : asFlowrightError(thrown);
  if (argv.includes('--json')) {
    cli.tell(toJson(errorEnvelope(error, { request_id: idOf(cli) })));
  } else {
    const id = error.code === 'INTERNAL_ERROR' ? `, request ${idOf(cli)}` : '';
    const [first, ...more] = messageLines(error, cli.wording());
    cli.tell(`error: ${first} (${error.code}${id})`);
    for (const line of more) cli.tell(line);
  }
  if (error.code === 'INTERNAL_ERROR' && cli.environment.FLOWRIGHT_DEBUG)
    cli.tell(String((error.cause as Error)?.stack));
  return error.status >= 500 && error.status !== 501 ? FAILED : REFUSED;
}

function idOf(cli: Cli): string {
  try {
    return cli.requestId();
  } catch {
    return newRequestId();
  }
}

function usageError(error: CommanderError): FlowrightError {
  const message = error.message
    .replace(/^error: /, '')
    .replace(/\n/g, ' ')
    .replace(/\.$/, '');
  return new FlowrightError('USAGE_ERROR', `${message}. Add --help to see how the command is used.`);
}
