import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ensureHome, homePaths, readConfigFile } from '../../src/home/index.ts';
import { tempFolder } from '../support/home.ts';

function read(text: string): unknown {
  const paths = homePaths(tempFolder());
  writeFileSync(paths.config, text);
  return readConfigFile(paths);
}

describe('[FLR-config-layers] config.yaml', () => {
  it('is made once, and never over what is there', () => {
    const paths = homePaths(join(tempFolder(), 'new'));
    expect(ensureHome(paths)).toBe(true);
    expect(readConfigFile(paths)).toEqual({ identity: 'local' });
    writeFileSync(paths.config, 'identity: sam\n');
    expect(ensureHome(paths)).toBe(false);
    expect(readConfigFile(paths)).toEqual({ identity: 'sam' });
  });

  it.each([
    ['plain words', '# a comment\n\nidentity: sam\nvault: team-1\n'],
    ['numbers', 'port: 8080\n'],
    ['true and false', 'allow_remote: true\nhost: localhost\n'],
    ['null', 'identity: null\n'],
    ['yes, which is a word in YAML 1.2', 'identity: yes\n'],
    ['quotes', 'identity: "sam"\n'],
    ['a comment behind a value', 'identity: sam # me\n'],
    ['nested keys', 'flow:\n  visible_scopes: [personal]\n'],
    ['Windows line ends', 'identity: sam\r\nvault: team\r\n'],
    ['an address with a colon', 'database_url: postgres://u:p@h/db\n'],
    ['a text over two lines', 'identity: sam\n  smith\n'],
  ])('reads %s as YAML does', (_what, text) => {
    expect(read(text)).toEqual(parse(text));
  });

  it('refuses a key that stands twice', () => {
    expect(() => read('identity: a\nidentity: b\n')).toThrow(/not valid YAML/);
  });
});
