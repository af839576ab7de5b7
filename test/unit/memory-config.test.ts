import { describe, expect, it } from 'vitest';
import { normaliseConfig } from '../../src/flowcharts/graph/normalise-node.ts';
import { readMemoryConfig } from '../../src/flowcharts/nodes/memory/config.ts';
import { memoryNode, needsOwnMemory } from '../../src/flowcharts/nodes/memory/index.ts';

const save = (raw: Record<string, unknown>) => normaliseConfig(memoryNode, raw);
const saved = (raw: Record<string, unknown>) => {
  const { config, issues } = save({ action: 'add', ...raw });
  expect(issues).toEqual([]);
  return config;
};
const refused = (raw: Record<string, unknown>) =>
  save({ action: 'add', ...raw }).issues.map(({ code, path }) => `${code} ${path}`);

describe('the config of a memory node', () => {
  it('[S004-memory-mode-normalised] [S004-memory-fallback-default] [S004-memory-retention] gets its defaults', () => {
    expect(saved({})).toEqual({
      action: 'add',
      mode: 'llm_guided',
      store_mode: 'replace',
      additive_prompt: '',
      retry_count: 1,
      fallback_enabled: true,
      limit: 10,
      require_result: false,
      retention_mode: 'ttl',
      retention_ttl_seconds: 3_600,
      retention_max_count: 25,
    });
  });

  it('is the same when it is saved again', () => {
    const once = saved({ text: ' keep ', route_key: 'next', fan_in_mode: 'any', colour: 'blue' });
    expect(once).toMatchObject({ text: 'keep', route_key: 'next', fan_in_mode: 'any', colour: 'blue' });
    expect(save(once)).toEqual({ config: once, issues: [] });
  });

  it('[S004-memory-action-required] needs an action', () => {
    for (const action of [undefined, null, '', '  ', 'remember', 7]) {
      expect(refused({ action })).toEqual(['memory_config_invalid /action']);
    }
  });

  it('[FLR-memory-aliases] knows other words', () => {
    const actions = ['store', 'append', 'upsert', 'create', 'create_or_update', ' ADD '];
    expect(actions.map((action) => saved({ action }).action)).toEqual(actions.map(() => 'add'));
    const lookups = ['fetch', 'read', 'query', 'search', 'list', 'Retrieve'];
    expect(lookups.map((action) => saved({ action }).action)).toEqual(lookups.map(() => 'retrieve'));
    expect(saved({ mode: 'LLM-guided' }).mode).toBe('llm_guided');
    expect(['overwrite', 'set'].map((store_mode) => saved({ store_mode }).store_mode)).toEqual(['replace', 'replace']);
    const additive = ['additive', 'add', 'store', 'append'];
    expect(additive.map((store_mode) => saved({ store_mode }).store_mode)).toEqual(additive.map(() => 'append'));
  });

  it('[S004-memory-mode-invalid] refuses words that mean nothing', () => {
    expect(refused({ mode: 'guess' })).toEqual(['memory_config_invalid /mode']);
    expect(refused({ mode: true })).toEqual(['memory_config_invalid /mode']);
    expect(saved({ mode: '' }).mode).toBe('llm_guided');
    expect(refused({ store_mode: 'merge' })).toEqual(['memory_config_invalid /store_mode']);
    expect(refused({ store_mode: 'constructor' })).toEqual(['memory_config_invalid /store_mode']);
  });

  it('[S004-memory-retry-clamp] clamps retries', () => {
    const given = [0, 1, 5, 6, 900, '3', '', null];
    expect(given.map((retry_count) => saved({ retry_count }).retry_count)).toEqual([0, 1, 5, 5, 5, 3, 1, 1]);
    for (const retry_count of [-1, 1.5, 'many', true, [], Number.NaN]) {
      expect(refused({ retry_count })).toEqual(['memory_config_invalid /retry_count']);
    }
  });

  it('takes switches as forms send them', () => {
    const on = [true, 'true', 'YES', 'on', 1, '1'];
    expect(on.map((fallback_enabled) => saved({ fallback_enabled }).fallback_enabled)).toEqual(on.map(() => true));
    const off = [false, 'false', 'no', 'Off', 0, '0'];
    expect(off.map((fallback_enabled) => saved({ fallback_enabled }).fallback_enabled)).toEqual(off.map(() => false));
    expect(refused({ fallback_enabled: 'maybe' })).toEqual(['memory_config_invalid /fallback_enabled']);
    expect(refused({ require_result: {} })).toEqual(['memory_config_invalid /require_result']);
  });

  it('bounds the limit and the texts', () => {
    expect([1, 50, 51, '7'].map((limit) => saved({ limit }).limit)).toEqual([1, 50, 50, 7]);
    expect(refused({ limit: 0 })).toEqual(['memory_config_invalid /limit']);
    expect(refused({ text: 5, query: ['a'] })).toEqual(['memory_config_invalid /query', 'memory_config_invalid /text']);
    expect(refused({ additive_prompt: 'ä'.repeat(40_000) })).toEqual(['memory_config_invalid /additive_prompt']);
    expect(refused({ text: 'a\u0000b' })).toEqual(['memory_config_invalid /text']);
  });

  it('[S004-memory-retention] takes the four words of retention', () => {
    for (const retention_mode of ['forever', 'ttl', 'max_count', 'ttl_max_count']) {
      expect(saved({ retention_mode }).retention_mode).toBe(retention_mode);
    }
    expect(save({ action: 'add', retention_mode: 'always' }).issues).toMatchObject([{ path: '/retention_mode' }]);
    expect(save({ action: 'add', retention_ttl_seconds: 0 }).issues).toMatchObject([
      { path: '/retention_ttl_seconds' },
    ]);
  });

  it('tells whether the node gets a memory of its own', () => {
    expect(needsOwnMemory(saved({ action: 'store' }))).toBe(true);
    expect(needsOwnMemory(saved({ action: 'search' }))).toBe(false);
  });

  it('[S004-memory-migration] of old is brought to the rules of today', () => {
    const migrate = memoryNode.migrateConfig as (raw: Record<string, unknown>) => Record<string, unknown>;
    const today = { mode: 'llm_guided', retry_count: 1, fallback_enabled: true };
    expect(migrate({})).toEqual(today);
    expect(migrate({ mode: 'guess', retry_count: 'many', fallback_enabled: 'maybe' })).toEqual(today);
    expect(migrate({ mode: 'deterministic', retry_count: 9, fallback_enabled: 'off', action: 'x', own: [1] })).toEqual({
      mode: 'deterministic',
      retry_count: 5,
      fallback_enabled: false,
      action: 'x',
      own: [1],
    });
    expect(migrate({ retry_count: -4 }).retry_count).toBe(0);
    expect(migrate(migrate({ mode: 7 }))).toEqual(today);
  });

  it('of old without an action looks memories up, and a bad one is a failure of the node', () => {
    expect(readMemoryConfig({})).toMatchObject({ action: 'retrieve', mode: 'llm_guided', store_mode: null });
    expect(() => readMemoryConfig({ action: 'dance' })).toThrow(
      expect.objectContaining({ name: 'NodeFailure', code: 'memory_config_invalid' }),
    );
  });

  it('[S004-memory-inspector] is shown by curated controls', () => {
    const keys = memoryNode.inspector.map(({ key }) => key);
    expect(keys).toEqual(
      expect.arrayContaining(
        'action mode store_mode additive_prompt retry_count fallback_enabled retention_mode retention_ttl_seconds retention_max_count'.split(
          ' ',
        ),
      ),
    );
    const required = memoryNode.inspector.filter((field) => field.required).map(({ key }) => key);
    expect(required).toEqual(['action', 'mode']);
    const defaults = Object.fromEntries(
      memoryNode.inspector.filter((field) => field.default !== undefined).map((field) => [field.key, field.default]),
    );
    expect(saved(defaults)).toEqual(saved({}));
  });
});
