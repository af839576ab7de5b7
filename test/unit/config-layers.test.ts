import { describe, expect, it } from 'vitest';
import { type ConfigLayers, resolveConfig, SETTING_KEYS, SETTINGS } from '../../src/kernel/config.ts';

describe('[FLR-config-layers] settings in layers', () => {
  const layers: Required<ConfigLayers> = {
    file: { port: 1_001, host: 'from-file', vault: 'from-file', log_level: 'debug' },
    environment: { FLOWRIGHT_PORT: '1002', FLOWRIGHT_HOST: 'from-environment', FLOWRIGHT_VAULT: 'from-environment' },
    flags: { port: 1_003, host: 'from-flag' },
  };

  it('takes the flag over the environment over the file over the default, and tells which', () => {
    const { config, origins } = resolveConfig(layers);
    expect([config.host, origins.host]).toEqual(['from-flag', 'flag']);
    expect([config.vault, origins.vault]).toEqual(['from-environment', 'environment']);
    expect([config.log_level, origins.log_level]).toEqual(['debug', 'config.yaml']);
    expect([config.token_days, origins.token_days]).toEqual([90, 'default']);
  });

  it('falls back one layer at a time', () => {
    const { file, environment, flags } = layers;
    const port = (given: ConfigLayers) => resolveConfig(given).config.port;
    expect(port({ file, environment, flags })).toBe(1_003);
    expect(port({ file, environment })).toBe(1_002);
    expect(port({ file })).toBe(1_001);
    expect(port({})).toBe(7_480);
  });

  it('gives every setting a value and an origin', () => {
    const { config, origins } = resolveConfig({});
    expect(Object.keys(config)).toEqual(SETTING_KEYS);
    expect(new Set(Object.values(origins))).toEqual(new Set(['default']));
    expect(config).toMatchObject({ host: '127.0.0.1', vault: 'default', identity: null, allow_remote: false });
  });

  it('takes an empty environment variable for an unset one', () => {
    const { config, origins } = resolveConfig({
      file: { database_url: 'postgres://db.example/x' },
      environment: { DATABASE_URL: '', FLOWRIGHT_PORT: '' },
    });
    expect([config.database_url, origins.database_url]).toEqual(['postgres://db.example/x', 'config.yaml']);
    expect([config.port, origins.port]).toEqual([7_480, 'default']);
  });

  it('lets an empty flag unset what a lower layer set', () => {
    const { config, origins } = resolveConfig({ file: { hub_url: 'http://hub.example' }, flags: { hub_url: '' } });
    expect([config.hub_url, origins.hub_url]).toEqual([null, 'flag']);
  });

  it.each([undefined, null, {}])('takes a config.yaml that holds %j for an empty one', (file) => {
    expect(resolveConfig({ file }).config.port).toBe(7_480);
  });

  it('reads a nested setting, written nested or with its dot', () => {
    const scopes = (file: unknown) => resolveConfig({ file }).config['flow.visible_scopes'];
    expect(scopes({ flow: { visible_scopes: ['personal', 'project'] } })).toEqual(['personal', 'project']);
    expect(scopes({ 'flow.visible_scopes': 'personal, org' })).toEqual(['personal', 'org']);
  });

  it('reads whole numbers, switches and lists from text', () => {
    const { config } = resolveConfig({
      environment: {
        FLOWRIGHT_PORT: '0',
        FLOWRIGHT_ALLOW_REMOTE: '1',
        FLOWRIGHT_ALLOWED_HOSTS: 'a.example, b.example',
        FLOWRIGHT_TOKEN_DAYS: '7',
      },
    });
    expect(config).toMatchObject({
      port: 0,
      allow_remote: true,
      allowed_hosts: ['a.example', 'b.example'],
      token_days: 7,
    });
  });

  it('has defaults that its own checks accept, and one environment variable for each setting', () => {
    for (const key of SETTING_KEYS) {
      const { parse, default: fallback } = SETTINGS[key] as { parse(raw: unknown): unknown; default: unknown };
      expect(parse(fallback), key).toEqual({ value: fallback });
    }
    const names = SETTING_KEYS.map((key) => SETTINGS[key].env);
    expect(new Set(names).size).toBe(names.length);
  });
});
