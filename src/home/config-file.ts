import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { refusal } from '../kernel/errors.ts';
import type { HomePaths } from './paths.ts';

const FIRST_CONFIG = `# Flowright settings. Environment variables and flags override them; \`flowright config show\` explains each value.
# The user that commands on this machine act as.
identity: local
`;

/** Makes the folder and a first config.yaml where there is none. True when this call wrote it. */
export function ensureHome(paths: HomePaths): boolean {
  makeFolder(paths.home);
  const draft = `${paths.config}.${process.pid}.${randomUUID()}.tmp`;
  writeFileSync(draft, FIRST_CONFIG, { mode: 0o600 });
  try {
    // link() fails when the name exists: of many first starts exactly one writes, and never half a file.
    linkSync(draft, paths.config);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refusal(
      'CONFIG_INVALID',
      `The data folder ${folder} cannot be made (${code}). Set FLOWRIGHT_HOME to a folder of yours.`,
    );
  }
}

/** The parsed config.yaml; undefined when there is none. */
export function readConfigFile(paths: HomePaths): unknown {
  let text: string;
  try {
    text = readFileSync(paths.config, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw refusal('CONFIG_INVALID', `${paths.config} cannot be read: check its permissions.`);
  }
  try {
    return parse(text);
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0]?.replace(/:$/, '.');
    throw refusal('CONFIG_INVALID', `${paths.config} is not valid YAML: ${reason}`);
  }
}
