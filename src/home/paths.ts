import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The data folder and what lies in it. */
export interface HomePaths {
  home: string;
  config: string;
  database: string;
  /** Notes, one folder a vault, unless a setting names another place. */
  vaults: string;
  /** Files that nodes work with. */
  attachments: string;
  /** Knowledge of Flowise servers, one folder a server. */
  schemas: string;
  /** Seals stored secrets of other systems; without it they cannot be read back. */
  sealingKey: string;
}

export function homePaths(home: string): HomePaths {
  return {
    home,
    config: join(home, 'config.yaml'),
    database: join(home, 'flowright.db'),
    vaults: join(home, 'vaults'),
    attachments: join(home, 'attachments'),
    schemas: join(home, 'schemas'),
    sealingKey: join(home, 'sealing.key'),
  };
}

/** `--home` beats FLOWRIGHT_HOME beats ~/.flowright. */
export function resolveHome(flag: string | undefined, environment: NodeJS.ProcessEnv): string {
  return resolve(flag ?? (environment.FLOWRIGHT_HOME || join(homedir(), '.flowright')));
}
