import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { refusal } from '../../../kernel/errors.ts';
import { inertButColours, inertLine, wantsColour } from '../../../kernel/terminal.ts';
import { type Asking, asking } from '../asking.ts';
import { confirm } from '../confirm.ts';
import { descend } from '../operation-command.ts';
import { operationNamed } from '../operation-named.ts';
import { type PatchFile, readPatch } from '../patch-file.ts';
import type { Cli } from '../run.ts';

const FILE = 'JSON file with patch operations, with a whole flow, or from `chatflow export`; - for standard input';
const PAGE = 50;

interface Place {
  server?: string;
  chatflowId?: string;
}

interface Change extends Place {
  allowIncomplete?: boolean;
}

interface ApplyOptions extends Change {
  name?: string;
  type?: string;
  baseHash?: string;
  payloadHash?: string;
  message?: string;
  idempotencyKey?: string;
}

/** Commands about chatflows that read a change from a file or write files. */
export function register(program: Command, cli: Cli): void {
  change(descend(program, ['patch', 'compile']))
    .argument('<file>', FILE)
    .description('Try a change to a chatflow and show what it would do; writes nothing')
    .addHelpText(
      'after',
      '\nExamples:\n  flowright patch compile ops.json\n  flowright patch compile ops.json --chatflow-id ID',
    )
    .action(async (file: string, options: Change) => {
      cli.word({ fields: {}, codes: true });
      await cli.call(await operationNamed('patch.compile'), changeIn(readPatch(file), options));
    });
  change(descend(program, ['chatflow', 'apply']))
    .argument('<file>', FILE)
    .description('Write a change to Flowise: shows it, asks, and writes exactly what it showed')
    .option('--name <name>', 'name of a new chatflow, or a new name; a new one from an export has the name it had')
    .option('--type <type>', 'kind of a new chatflow: CHATFLOW, AGENTFLOW, MULTIAGENT or ASSISTANT')
    .option('--base-hash <hash>', 'base_hash that `patch compile` printed')
    .option('--payload-hash <hash>', 'payload_hash that `patch compile` printed; then nothing is asked')
    .option('--message <text>', 'why, for the history')
    .option('--idempotency-key <key>', 'a repeated command with the same key is the same write')
    .addHelpText(
      'after',
      '\nExamples:\n  flowright chatflow apply ops.json --name "Support bot"\n  flowright chatflow apply ops.json --chatflow-id ID --yes',
    )
    .action(async (file: string, options: ApplyOptions) => apply(file, options, cli));
  place(descend(program, ['chatflow', 'validate']))
    .argument('[file]', 'a flow, or a file from `chatflow export`, to judge instead of a chatflow')
    .description('Say whether a chatflow can work; ends with 1 when it cannot')
    .addHelpText(
      'after',
      '\nExamples:\n  flowright chatflow validate --chatflow-id ID\n  flowright chatflow validate flow.json',
    )
    .action(async (file: string | undefined, options: Place) => {
      const draft = file === undefined ? {} : flowIn(file);
      await cli.call(await operationNamed('chatflow.validate'), { ...placeOf(options), ...draft });
    });
  place(descend(program, ['chatflow', 'export']))
    .description('Write chatflows as readable JSON files, one each, secrets hidden')
    .requiredOption('--out <folder>', 'folder to write them to, for example one that git watches')
    .addHelpText('after', '\nExamples:\n  flowright chatflow export --out chatflows/')
    .action(async (options: Place & { out: string }) => exportAll(options, cli));
}

function place(command: Command): Command {
  return command
    .option('--server <name>', 'Flowise server; the usual one when left out')
    .option('--chatflow-id <id>', 'the chatflow that is meant');
}

function change(command: Command): Command {
  return place(command).option(
    '--allow-incomplete',
    'let through what is merely not filled in yet, such as a credential',
  );
}

function changeIn({ change: wanted }: PatchFile, options: Change): Record<string, unknown> {
  return { ...placeOf(options), ...wanted, ...given({ allow_incomplete: options.allowIncomplete }) };
}

function placeOf({ server, chatflowId }: Place): Record<string, unknown> {
  return given({ server, chatflow_id: chatflowId });
}

function given(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function flowIn(file: string): Record<string, unknown> {
  const { change: wanted } = readPatch(file);
  if ('flow_data' in wanted) return wanted;
  throw refusal('USAGE_ERROR', `${file} must hold a flow with nodes and edges, or an exported chatflow.`);
}

async function apply(file: string, options: ApplyOptions, cli: Cli): Promise<void> {
  cli.word({ fields: {}, codes: true });
  const patch = readPatch(file);
  // A chatflow that is there keeps its name: what was exported may have been another one.
  const { name, type } = options.chatflowId === undefined ? { ...patch.exported, ...named(options) } : options;
  const { message, baseHash, payloadHash, idempotencyKey } = options;
  const operation = await operationNamed('chatflow.apply');
  const wanted = changeIn(patch, options);
  const more = given({ name, type, message, idempotency_key: idempotencyKey });
  if (options.chatflowId !== undefined && name !== undefined && !cli.options().json) {
    cli.tell(inertLine(`~ name: it is renamed to "${name}"`));
  }
  const hashes =
    payloadHash === undefined
      ? await seenAndAgreed(wanted, cli)
      : given({ base_hash: baseHash, payload_hash: payloadHash });
  if (hashes) await cli.call(operation, { ...wanted, ...more, ...hashes });
}

function named({ name, type }: ApplyOptions): { name?: string; type?: string } {
  return { ...(name === undefined ? {} : { name }), ...(type === undefined ? {} : { type }) };
}

const NOT_YET = /\nNothing was written\.$/;

/** Shows what would be written and asks; null when it cannot be written. */
async function seenAndAgreed(wanted: Record<string, unknown>, cli: Cli): Promise<Record<string, unknown> | null> {
  const compile = await operationNamed('patch.compile');
  const compiled = JSON.parse(await cli.ask(compile, wanted)) as {
    ok: boolean;
    server: string;
    base_hash: string | null;
    payload_hash: string;
  };
  // A program gets the answer or the refusal of the write itself, and nothing beside it.
  if (!cli.options().json) {
    const { render, renderInColour } = compile.cli ?? {};
    const colour = wantsColour(cli.environment, process.stderr.isTTY === true);
    const card = colour ? await renderInColour?.(compiled) : await render?.(compiled);
    // The question says as much, and what follows a yes says otherwise.
    cli.tell(inertButColours(compiled.ok ? (card ?? '').replace(NOT_YET, '') : (card ?? '')));
    if (!compiled.ok) {
      process.exitCode = 1;
      return null;
    }
  }
  if (compiled.ok) await confirm({ summary: inertLine(`Write this to ${compiled.server}`), removes: false }, cli);
  return given({ base_hash: compiled.base_hash ?? undefined, payload_hash: compiled.payload_hash });
}

async function exportAll({ out, ...options }: Place & { out: string }, cli: Cli): Promise<void> {
  const folder = resolve(out);
  const { readyFolder } = await import('../generated-file.ts');
  readyFolder(folder);
  const written = await asking(cli, (asked) => exportPages(asked, placeOf(options), folder));
  cli.print(
    cli.options().json
      ? JSON.stringify({ folder: out, files: written })
      : inertLine(`${written.length} chatflow${written.length === 1 ? '' : 's'} written to ${out}`),
  );
}

async function exportPages(asked: Asking, wanted: Record<string, unknown>, folder: string): Promise<string[]> {
  const operation = await operationNamed('chatflow.export');
  const { replaceFile } = await import('../generated-file.ts');
  const written: string[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = (await asked.ask(operation, { ...wanted, limit: PAGE, offset })) as {
      total_count: number;
      files: { file_name: string; content: string }[];
    };
    for (const { file_name, content } of page.files) {
      // Names come from a hub: only a plain one is a file in this folder.
      if (!/^[a-z0-9][a-z0-9.-]*\.json$/.test(file_name)) continue;
      replaceFile(join(folder, file_name), content);
      written.push(file_name);
    }
    if (offset + PAGE >= page.total_count) return written;
  }
}
