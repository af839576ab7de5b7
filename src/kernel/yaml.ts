import { createRequire } from 'node:module';

let loaded: typeof import('yaml') | undefined;

/** The YAML parser. Loading it would be a tenth of the time of most commands, so only who needs it does. */
export function yaml(): typeof import('yaml') {
  loaded ??= createRequire(import.meta.url)('yaml') as typeof import('yaml');
  return loaded;
}
