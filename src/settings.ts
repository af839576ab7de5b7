import { ensureHome, type HomePaths, homePaths, readConfigFile, resolveHome } from './home/index.ts';
import { type Config, type Origins, resolveConfig, type SettingKey } from './kernel/config.ts';
import { type Gates, readGates } from './kernel/gates.ts';

export interface Settings {
  paths: HomePaths;
  config: Config;
  origins: Origins;
  /** Policies that the environment decides. */
  gates: Gates;
}

export interface SettingsSource {
  home?: string | undefined;
  flags?: Partial<Record<SettingKey, unknown>>;
  environment: NodeJS.ProcessEnv;
}

/** Finds the home, gives it a first config.yaml where it has none, and resolves every setting. */
export function loadSettings(source: SettingsSource): Settings {
  const paths = homePaths(resolveHome(source.home, source.environment));
  ensureHome(paths);
  const { config, origins } = resolveConfig({
    file: readConfigFile(paths),
    environment: source.environment,
    ...(source.flags ? { flags: source.flags } : {}),
  });
  return { paths, config, origins, gates: readGates(source.environment) };
}
