import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { refusal } from '../kernel/errors.ts';
import { yaml } from '../kernel/yaml.ts';
import { makeFolder } from './make-folder.ts';
import type { HomePaths } from './paths.ts';
import { unusableFolder } from './unusable-folder.ts';

const FIRST_CONFIG = `# Flowright settings. Environment variables and flags override them; \`flowright config show\` explains each value.
# The user that commands on this machine act as.
identity: local
`;

/** Makes the folder and a first config.yaml where there is none. True when this call wrote it. */
export function ensureHome(paths: HomePaths): boolean {
  if (existsSync(paths.config)) return false;
  makeHomeFolder(paths.home);
  const draft = `${paths.config}.${process.pid}.${randomUUID()}.tmp`;
  try {
    writeFileSync(draft, FIRST_CONFIG, { mode: 0o600 });
  } catch (error) {
    throw unusableFolder(paths.home, error);
  }
  try {
    // link() fails when the name exists: of many first starts exactly one writes, and never half a file.
    linkSync(draft, paths.config);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusableFolder(paths.home, error);
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

function makeHomeFolder(folder: string): void {
  try {
    makeFolder(folder, 0o700);
  } catch (error) {
    throw unusableFolder(folder, error);
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
    return plainLines(text) ?? yaml().parse(text);
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0]?.replace(/:$/, '.');
    throw refusal('CONFIG_INVALID', `${paths.config} is not valid YAML: ${reason}`);
  }
}

/**
 * Comments and `key: word` lines, which most files consist of, or null for anything else: two words need no parser.
 */
function plainLines(text: string): Record<string, string> | null {
  const settings: Record<string, string> = {};
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, key, word] = /^([a-z_]+): ([A-Za-z][A-Za-z0-9_-]*)$/.exec(line) ?? [];
    const hasMeaning = word === undefined || /^(null|true|false|yes|no|on|off|y|n)$/i.test(word);
    if (key === undefined || word === undefined || hasMeaning || Object.hasOwn(settings, key)) return null;
    settings[key] = word;
  }
  return settings;
}
