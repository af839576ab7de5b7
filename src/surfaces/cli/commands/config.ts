import type { Command } from 'commander';
import { SETTING_KEYS, SETTINGS, shownValue } from '../../../kernel/config.ts';
import { textTable } from '../../../kernel/terminal.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';

export function register(program: Command, cli: Cli): void {
  descend(program, ['config', 'show'])
    .description('Show every setting, its value and where it comes from; secrets stay hidden')
    .action(() => {
      const { config, origins, paths } = cli.settings();
      const settings = SETTING_KEYS.map((key) => ({
        key,
        value: shownValue(key, config[key]),
        origin: origins[key],
        environment: SETTINGS[key].env,
        summary: SETTINGS[key].summary,
      }));
      if (cli.options().json) {
        cli.print(JSON.stringify({ home: paths.home, settings }));
        return;
      }
      const rows = settings.map(({ key, value, origin, environment, summary }) => [
        key,
        value === null ? '-' : typeof value === 'object' ? JSON.stringify(value) : String(value),
        origin,
        environment,
        summary,
      ]);
      cli.print(`home: ${paths.home}\n\n${textTable(['SETTING', 'VALUE', 'FROM', 'ENVIRONMENT', 'WHAT IT IS'], rows)}`);
    });
}
