import { describe, expect, it } from 'vitest';
import { type ConfigLayers, resolveConfig, shownValue } from '../../src/kernel/config.ts';
import { FlowrightError, type Issue } from '../../src/kernel/errors.ts';

function refused(layers: ConfigLayers): { message: string; issues: Issue[] } {
  try {
    resolveConfig(layers);
  } catch (error) {
    if (!(error instanceof FlowrightError) || error.code !== 'CONFIG_INVALID') throw error;
    return { message: error.message, issues: error.details.errors as Issue[] };
  }
  throw new Error(`accepted: ${JSON.stringify(layers)}`);
}

describe('[FLR-config-layers] settings that are refused', () => {
  it.each([
    ['FLOWRIGHT_PORT', 'many', '/port'],
    ['FLOWRIGHT_PORT', '65536', '/port'],
    ['FLOWRIGHT_PORT', '-1', '/port'],
    ['FLOWRIGHT_PORT', '80.5', '/port'],
    ['FLOWRIGHT_PORT', '1e3', '/port'],
    ['FLOWRIGHT_HOST', 'a b', '/host'],
    ['FLOWRIGHT_ALLOW_REMOTE', 'yes', '/allow_remote'],
    ['FLOWRIGHT_ALLOWED_HOSTS', 'a,,b', '/allowed_hosts'],
    ['DATABASE_URL', 'mysql://db.example/x', '/database_url'],
    ['FLOWRIGHT_HUB', 'ftp://hub.example', '/hub_url'],
    ['FLOWRIGHT_HUB', 'hub.example', '/hub_url'],
    ['FLOWRIGHT_FLOW_VISIBLE_SCOPES', 'personal,galaxy', '/flow.visible_scopes'],
    ['FLOWRIGHT_RATE_LIMIT_PER_MINUTE', '0', '/rate_limit_per_minute'],
    ['FLOWRIGHT_BODY_LIMIT_BYTES', '10', '/body_limit_bytes'],
    ['FLOWRIGHT_TOKEN_DAYS', '0', '/token_days'],
    ['FLOWRIGHT_LOG_LEVEL', 'loud', '/log_level'],
    ['FLOWRIGHT_IDENTITY', 'a'.repeat(129), '/identity'],
  ])('%s=%s', (name, value, path) => {
    const { issues, message } = refused({ environment: { [name]: value } });
    expect(issues).toEqual([
      { code: 'invalid_setting', path, message: expect.stringContaining('(environment) must ') },
    ]);
    expect(message).toContain(issues[0]?.message);
  });

  it.each([
    ['a list where a word belongs', { host: ['a'] }, '/host'],
    ['a switch where a number belongs', { port: true }, '/port'],
    ['a number where a list belongs', { allowed_origins: 3 }, '/allowed_origins'],
    ['nothing where a number belongs', { port: null }, '/port'],
  ])('%s in config.yaml', (_, file, path) => {
    expect(refused({ file }).issues).toEqual([expect.objectContaining({ code: 'invalid_setting', path })]);
  });

  it.each([
    ['a misspelt one', { prot: 1 }, '/prot'],
    ['a nested one', { flow: { visible: ['personal'] } }, '/flow.visible'],
    ['one below a plain setting', { host: { name: 'a' } }, '/host.name'],
    ['one named like what every object has', { constructor: 'x' }, '/constructor'],
    ['one with nothing below it', { nonsense: {} }, '/nonsense'],
  ])('unknown settings in config.yaml: %s', (_, file, path) => {
    expect(refused({ file }).issues).toEqual([expect.objectContaining({ code: 'unknown_setting', path })]);
  });

  it.each(['just text', 3, ['a', 'b']])('a config.yaml that is %j', (file) => {
    expect(refused({ file }).issues).toEqual([expect.objectContaining({ code: 'invalid_setting', path: '' })]);
  });

  it('are all named at once', () => {
    const { issues } = refused({ file: { prot: 1, port: 'x' }, environment: { FLOWRIGHT_LOG_LEVEL: 'loud' } });
    expect(issues.map(({ path }) => path).sort()).toEqual(['/log_level', '/port', '/prot']);
  });

  it('even when a higher layer is bad and a lower one good', () => {
    const { issues } = refused({ file: { port: 80 }, environment: { FLOWRIGHT_PORT: 'x' } });
    expect(issues[0]?.message).toContain('port (environment)');
  });

  it('never repeat the refused value, which may be a secret', () => {
    const { message } = refused({
      environment: { FLOWRIGHT_HUB_TOKEN: 'hunter2'.repeat(100), DATABASE_URL: 'mysql://u:hunter2@db.example/x' },
    });
    expect(message).not.toContain('hunter2');
  });
});

describe('[FLR-config-layers] settings as they are shown', () => {
  it('hides a token, and says null where there is none', () => {
    expect(shownValue('hub_token', 'flw_hunter2')).toBe('[secret]');
    expect(shownValue('hub_token', null)).toBeNull();
  });

  it.each([
    ['database_url', 'postgres://anna:hunter2@db.example/x'],
    ['database_url', 'postgres://:hunter2@db.example/x'],
    ['database_url', 'postgres://anna:top@hunter2@db.example/x'],
    ['database_url', 'postgres://db.example/x?password=hunter2'],
    ['hub_url', 'https://anna:hunter2@hub.example'],
  ] as const)('hides the password in %s %s', (key, value) => {
    expect(shownValue(key, value)).not.toContain('hunter2');
    expect(shownValue(key, value)).toContain('.example');
  });

  it('shows everything else as it is', () => {
    expect(shownValue('database_url', null)).toBeNull();
    expect(shownValue('port', 7_480)).toBe(7_480);
    expect(shownValue('allowed_hosts', ['a.example'])).toEqual(['a.example']);
  });
});
