import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/home.ts';
import { flowright, flowrightJson } from '../support/program.ts';

interface Shown {
  home: string;
  settings: { key: string; value: unknown; origin: string; environment: string; summary: string }[];
}

async function show(home: string, args: string[] = [], env: Record<string, string> = {}) {
  const { settings } = await flowrightJson<Shown>(['config', 'show', ...args], { home, env });
  return new Map(settings.map(({ key, value, origin }) => [key, { value, origin }]));
}

function withFile(text: string): string {
  const home = tempFolder();
  writeFileSync(join(home, 'config.yaml'), text);
  return home;
}

describe('[FLR-config-layers] config show', () => {
  it('tells the origin of each value: default, config.yaml, environment, flag', async () => {
    const home = withFile('identity: sam\nport: 8080\nflow:\n  visible_scopes: [personal, project]\n');
    const settings = await show(home, ['--hub', 'http://127.0.0.1:9'], { FLOWRIGHT_LOG_LEVEL: 'debug' });
    expect(settings.get('host')).toEqual({ value: '127.0.0.1', origin: 'default' });
    expect(settings.get('identity')).toEqual({ value: 'sam', origin: 'config.yaml' });
    expect(settings.get('port')).toEqual({ value: 8_080, origin: 'config.yaml' });
    expect(settings.get('flow.visible_scopes')).toEqual({ value: ['personal', 'project'], origin: 'config.yaml' });
    expect(settings.get('log_level')).toEqual({ value: 'debug', origin: 'environment' });
    expect(settings.get('hub_url')).toEqual({ value: 'http://127.0.0.1:9', origin: 'flag' });
  });

  it('lets each layer win over the one before: file, then environment, then flag', async () => {
    const home = withFile('vault: from_file\n');
    const env = { FLOWRIGHT_VAULT: 'from_environment' };
    expect((await show(home)).get('vault')).toEqual({ value: 'from_file', origin: 'config.yaml' });
    expect((await show(home, [], env)).get('vault')).toEqual({ value: 'from_environment', origin: 'environment' });
    expect((await show(home, ['--vault', 'from_flag'], env)).get('vault')).toEqual({
      value: 'from_flag',
      origin: 'flag',
    });
  });

  it('takes an empty variable for none', async () => {
    expect((await show(tempFolder(), [], { FLOWRIGHT_PORT: '' })).get('port')).toEqual({
      value: 7_480,
      origin: 'default',
    });
  });

  it('takes --home over FLOWRIGHT_HOME', async () => {
    const home = withFile('port: 8081\n');
    const { home: shown } = await flowrightJson<Shown>(['config', 'show', '--home', home], { home: tempFolder() });
    expect(shown).toBe(home);
  });

  it('hides secrets, in the table and in JSON', async () => {
    const home = withFile('hub_token: flw_filesesame\n');
    const env = { DATABASE_URL: 'postgres://sam:sesame@db.example/flowright' };
    for (const args of [[], ['--json']]) {
      const { status, stdout } = await flowright(['config', 'show', ...args], { home, env });
      expect(status).toBe(0);
      expect(stdout).not.toContain('sesame');
      expect(stdout).toContain('postgres://sam:[secret]@db.example/flowright');
      expect(stdout).toMatch(/hub_token.*\[secret\]/);
    }
  });

  it('is a table for people: setting, value, origin, variable and a sentence', async () => {
    const home = withFile('port: 8080\n');
    const { stdout } = await flowright(['config', 'show'], { home });
    expect(stdout).toContain(`home: ${home}\n`);
    expect(stdout).toMatch(/^SETTING +VALUE +FROM +ENVIRONMENT +WHAT IT IS$/m);
    expect(stdout).toMatch(/^port +8080 +config\.yaml +FLOWRIGHT_PORT +Port the hub listens on$/m);
    expect(stdout).toMatch(/^database_url +- +default +DATABASE_URL /m);
  });
});

describe('[FLR-config-layers] a setting that cannot be used is refused before anything starts', () => {
  it.each<[string, string, Record<string, string>, RegExp]>([
    ['a port that is none', 'port: 99999\n', {}, /port \(config\.yaml\) must be a whole number from 0 to 65535/],
    ['a text for a number', '', { FLOWRIGHT_TOKEN_DAYS: 'soon' }, /token_days \(environment\) must be a whole number/],
    ['a flag that is neither', '', { FLOWRIGHT_ALLOW_REMOTE: 'maybe' }, /allow_remote .* must be true or false/],
    [
      'another database',
      '',
      { DATABASE_URL: 'mysql://db' },
      /database_url \(environment\) must be a postgres:\/\/ address/,
    ],
    [
      'a scope that is none',
      '',
      { FLOWRIGHT_FLOW_VISIBLE_SCOPES: 'galaxy' },
      /must be a list of personal, project, org/,
    ],
    ['a key nobody knows', 'prot: 8080\n', {}, /unknown setting prot/],
    ['a list instead of keys', '- port\n', {}, /config\.yaml must be a list of `key: value` lines/],
    ['what is no YAML', 'port: [\n', {}, /config\.yaml is not valid YAML/],
  ])('%s', async (_fault, file, env, message) => {
    const home = withFile(file);
    for (const command of [['config', 'show'], ['flow', 'list'], ['hub']]) {
      const { status, stdout, stderr } = await flowright(command, { home, env });
      expect({ status, stdout }, command.join(' ')).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr).toContain('(CONFIG_INVALID)');
    }
  });

  it('names every fault at once, in details.errors as well', async () => {
    const home = withFile('port: none\nlog_level: loud\n');
    const { stderr } = await flowright(['config', 'show', '--json'], { home });
    const { code, details } = JSON.parse(stderr);
    expect(code).toBe('CONFIG_INVALID');
    expect(details.errors.map(({ path }: { path: string }) => path)).toEqual(['/port', '/log_level']);
  });

  it('a secret that cannot be used is not repeated in the message', async () => {
    const env = { FLOWRIGHT_HUB_TOKEN: 'sesame'.repeat(100), DATABASE_URL: 'mysql://sam:sesame@db' };
    const { status, stderr } = await flowright(['config', 'show'], { home: tempFolder(), env });
    expect(status).toBe(1);
    expect(stderr).toContain('hub_token');
    expect(stderr).not.toContain('sesame');
  });
});
