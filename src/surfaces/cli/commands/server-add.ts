import type { Command } from 'commander';
import { askHidden, lineFromInput } from '../hidden-line.ts';
import { descend } from '../operation-command.ts';
import { operationNamed } from '../operation-named.ts';
import type { Cli } from '../run.ts';

const EXAMPLES = `
On a terminal the key is asked for, so that it stands in no history; enter nothing where the server wants none, or to
keep the key that is stored for it. A user name and password may stand in the address instead.

Examples:
  flowright server add local --url http://127.0.0.1:3000
  flowright server add staging --url https://flowise.example.com --api-key - --default < key.txt
  flowright server add old --url http://127.0.0.1:3001 --username admin`;

const FIELDS = {
  name: '<name>',
  url: '--url',
  api_key: '--api-key',
  username: '--username',
  password: '--password',
  auth: '--no-key',
  default: '--default',
};

interface Options {
  url: string;
  apiKey?: string;
  username?: string;
  password?: string;
  /** False with --no-key. */
  key?: boolean;
  default?: boolean;
}

export function register(program: Command, cli: Cli): void {
  descend(program, ['server', 'add'])
    .description('Add a Flowise server, or replace the one of that name')
    .argument('<name>', 'what to call it: lower case letters, digits, . _ and -')
    .requiredOption('--url <text>', 'its address, such as http://127.0.0.1:3000, with or without /api/v1')
    .option('--api-key <text>', 'API key made in Flowise; - reads it from standard input')
    .option('--username <text>', 'user name, of Flowise 2 with FLOWISE_USERNAME')
    .option('--password <text>', 'password that goes with it; - reads it from standard input')
    .option('--no-key', 'the server wants no key; drops a stored one')
    .option('--default', 'meant from now on when no server is named')
    .addHelpText('after', EXAMPLES)
    .action((name: string, options: Options) => add(name, options, cli));
}

async function add(name: string, options: Options, cli: Cli): Promise<void> {
  cli.word({ fields: FIELDS });
  const { url, username } = options;
  await cli.call(await operationNamed('server.add'), {
    name,
    url,
    ...(username === undefined ? {} : { username }),
    ...(options.key === false ? { auth: 'none' } : {}),
    ...(await secretOf(options, cli)),
    default: options.default === true,
  });
}

async function secretOf({ url, apiKey, username, password, key }: Options, cli: Cli): Promise<Record<string, string>> {
  if (apiKey === '-') return { api_key: lineFromInput('--api-key'), ...(password ? { password } : {}) };
  if (password === '-') return { password: lineFromInput('--password') };
  const given = {
    ...(apiKey === undefined ? {} : { api_key: apiKey }),
    ...(password === undefined ? {} : { password }),
  };
  if (Object.keys(given).length > 0 || !process.stdin.isTTY || cli.options().json) return given;
  // Nothing is left to ask where there is no key, or where the address says who asks.
  if (key === false || /^[a-z]+:\/\/[^/?#]*@/i.test(url)) return given;
  const question =
    username === undefined ? 'API key (not shown; empty for none or the stored one): ' : 'Password (not shown): ';
  const secret = await askHidden(question);
  if (secret === '') return {};
  return username === undefined ? { api_key: secret } : { password: secret };
}
