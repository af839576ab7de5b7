import { Option } from 'commander';
import type { SettingKey } from '../../kernel/config.ts';
import type { SettingsSource } from '../../settings.ts';

/** Options that every command takes. */
export interface GlobalOptions {
  json?: boolean;
  vault?: string;
  hub?: string;
  home?: string;
  requestId?: string;
  yes?: boolean;
}

export const GLOBAL_OPTIONS: Option[] = [
  new Option('--json', 'print the exact payload as one line of JSON'),
  new Option('--vault <id>', 'vault to act in'),
  new Option('--hub <url>', 'send the command to a hub instead of the local store'),
  new Option('--home <folder>', 'data folder (default: FLOWRIGHT_HOME or ~/.flowright)'),
  new Option('--request-id <id>', 'id to find this request by in logs and answers'),
  new Option('--yes', 'do not ask before something is removed'),
];

/** Those of the above that are followed by a value: what stands after them is not a command. */
const WITH_VALUE = new Set(['--vault', '--hub', '--home', '--request-id']);

/** Words that are neither an option nor a global option's value: the first two decide what gets loaded. */
export function commandWords(argv: readonly string[]): string[] {
  const words: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] as string;
    if (!word.startsWith('-')) words.push(word);
    else if (WITH_VALUE.has(word)) at += 1;
  }
  return words;
}

export function settingsSource(options: GlobalOptions, environment: NodeJS.ProcessEnv): SettingsSource {
  const flags: Partial<Record<SettingKey, unknown>> = {};
  if (options.vault !== undefined) flags.vault = options.vault;
  if (options.hub !== undefined) flags.hub_url = options.hub;
  return { home: options.home, flags, environment };
}
