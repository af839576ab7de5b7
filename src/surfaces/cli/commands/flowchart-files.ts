import { resolve } from 'node:path';
import type { Command } from 'commander';
import { refusal } from '../../../kernel/errors.ts';
import { inertLine } from '../../../kernel/terminal.ts';
import { type AnyOperation, routesOf } from '../../../operations/index.ts';
import { readJsonObject } from '../json-file.ts';
import { descend } from '../operation-command.ts';
import { operationNamed } from '../operation-named.ts';
import type { Cli } from '../run.ts';

const FILE = 'JSON with nodes and edges, as `flowchart graph --json` prints it; - for standard input';

/** Commands that take a graph from a file or write one. What they send is the operation's own input. */
export function register(program: Command, cli: Cli): void {
  descend(program, ['flowchart', 'save'])
    .argument('<flowchart_id>', 'id of the flowchart')
    .argument('<file>', FILE)
    .description('Save the whole graph of a flowchart from a file')
    .option('--base-version <number>', 'version you changed; the save is refused when it is no longer the newest')
    .addHelpText(
      'after',
      '\nExamples:\n  flowright flowchart graph 3 --json > graph.json\n  flowright flowchart save 3 graph.json --base-version 2',
    )
    .action(async (id: string, file: string, options: { baseVersion?: string }) => {
      const base =
        options.baseVersion === undefined ? {} : { base_version: wholeNumber(options.baseVersion, '--base-version') };
      const input = { flowchart_id: wholeNumber(id, 'flowchart_id'), ...graphIn(file, ['base_version']), ...base };
      cli.word({ fields: {}, codes: true });
      await cli.call(await operationNamed('flowchart.save'), input);
    });
  descend(program, ['flowchart', 'validate'])
    .argument('<flowchart_id>', 'id of the flowchart')
    .argument('[file]', `a draft to judge instead of the saved graph: ${FILE}`)
    .description('Say whether a run can walk a graph; ends with 1 when it cannot')
    .addHelpText('after', '\nExamples:\n  flowright flowchart validate 3\n  flowright flowchart validate 3 graph.json')
    .action(async (id: string, file: string | undefined) => {
      const operation = await operationNamed('flowchart.validate');
      const flowchart_id = wholeNumber(id, 'flowchart_id');
      if (file === undefined) await cli.call(operation, { flowchart_id });
      else await cli.call(withBody(operation), { flowchart_id, ...graphIn(file, []) });
    });
  descend(program, ['flowchart', 'import'])
    .argument('<file>', 'file that `flowchart export` wrote; - for standard input')
    .description('Make a flowchart from a JSON file')
    .addHelpText('after', '\nExamples:\n  flowright flowchart import release-checklist.json')
    .action(async (file: string) => {
      await cli.call(await operationNamed('flowchart.import'), readJsonObject(file));
    });
  descend(program, ['flowchart', 'export'])
    .argument('<flowchart_id>', 'id of the flowchart')
    .description('Write a flowchart as one JSON file')
    .option('--version <number>', 'a version to write; the newest when left out')
    .option('--out <file>', 'write it to this file instead of standard output')
    .addHelpText('after', '\nExamples:\n  flowright flowchart export 3 --out release.json')
    .action(async (id: string, options: { version?: string; out?: string }) => {
      const operation = await operationNamed('flowchart.export');
      const pinned = options.version === undefined ? {} : { version: wholeNumber(options.version, '--version') };
      const input = { flowchart_id: wholeNumber(id, 'flowchart_id'), ...pinned };
      if (options.out === undefined) await cli.call(operation, input);
      else await write(options.out, await cli.ask(operation, input), cli);
    });
}

/** Of a file only the graph: one that was read also says what it was judged to be. */
function graphIn(file: string, more: readonly string[]): Record<string, unknown> {
  const content = readJsonObject(file);
  return Object.fromEntries(
    ['nodes', 'edges', ...more].filter((key) => Object.hasOwn(content, key)).map((key) => [key, content[key]]),
  );
}

/** A draft does not fit into an address. */
function withBody(operation: AnyOperation): AnyOperation {
  return { ...operation, http: routesOf(operation).filter(({ method }) => method === 'POST') };
}

async function write(out: string, json: string, cli: Cli): Promise<void> {
  const { replaceFile } = await import('../generated-file.ts');
  replaceFile(resolve(out), `${JSON.stringify(JSON.parse(json), null, 2)}\n`);
  cli.print(cli.options().json ? json : inertLine(`written to ${out}`));
}

function wholeNumber(text: string, name: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw refusal('USAGE_ERROR', `${name} must be a whole number.`);
}
