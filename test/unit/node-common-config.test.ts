import { describe, expect, it } from 'vitest';
import { normaliseConfig } from '../../src/flowcharts/graph/normalise-node.ts';
import { normaliseCommonConfig } from '../../src/flowcharts/nodes/common-config.ts';
import type { NodeType } from '../../src/flowcharts/nodes/node-type.ts';
import { nodeTypes } from '../../src/flowcharts/nodes/registry.ts';

const codes = (raw: Record<string, unknown>) =>
  normaliseCommonConfig(raw).issues.map(({ code, path }) => `${code} ${path}`);

describe('[FLR-graph-common-keys] keys that a node of any type may carry', () => {
  it('are stored in their canonical form', () => {
    const { config, issues } = normaliseCommonConfig({
      fan_in_mode: 'custom-n',
      fan_in_custom_count: '2',
      no_match_policy: 'Fallback',
      fallback_condition_key: ' left ',
      agent_id: 0,
      request_id: ' r-1 ',
      correlation_id: '',
      retention_mode: 'TTL_MAX_COUNT',
      retention_ttl_seconds: '60',
      timeout_seconds: 30,
      something_else: { kept: true },
    });
    expect(issues).toEqual([]);
    expect(config).toEqual({
      fan_in_mode: 'custom',
      fan_in_custom_count: 2,
      no_match_policy: 'fallback',
      fallback_condition_key: 'left',
      request_id: 'r-1',
      retention_mode: 'ttl_max_count',
      retention_ttl_seconds: 60,
      timeout_seconds: 30,
      something_else: { kept: true },
    });
  });

  it.each([
    [{ fan_in_mode: 'all', fan_in_custom_count: 4 }, {}],
    [{ fan_in_mode: '' }, {}],
    [{ fan_in_mode: 'any' }, { fan_in_mode: 'any' }],
    [
      { fan_in_mode: 'custom_n', fan_in_custom_count: 1 },
      { fan_in_mode: 'custom', fan_in_custom_count: 1 },
    ],
    [{ no_match_policy: 'end' }, { no_match_policy: 'end' }],
    [{ agent_id: null }, {}],
  ])('%j becomes %j', (raw, wanted) => {
    expect(normaliseCommonConfig(raw)).toEqual({ config: wanted, issues: [] });
  });

  it.each([
    [{ fan_in_mode: 'some' }, ['routing_config_invalid /fan_in_mode']],
    [{ fan_in_mode: 7 }, ['routing_config_invalid /fan_in_mode']],
    [{ fan_in_mode: 'toString' }, ['routing_config_invalid /fan_in_mode']],
    [{ fan_in_mode: 'custom' }, ['routing_config_invalid /fan_in_custom_count']],
    [{ fan_in_mode: 'custom', fan_in_custom_count: 0 }, ['routing_config_invalid /fan_in_custom_count']],
    [{ no_match_policy: 'maybe' }, ['routing_config_invalid /no_match_policy']],
    [{ no_match_policy: 'fallback' }, ['routing_config_invalid /fallback_condition_key']],
    [{ agent_id: 5 }, ['agent_not_found /agent_id']],
    [{ agent_id: -1 }, ['agent_invalid /agent_id']],
    [{ agent_id: 'x' }, ['agent_invalid /agent_id']],
    [{ retention_mode: 'always' }, ['retention_config_invalid /retention_mode']],
    [{ retention_max_count: 0 }, ['retention_config_invalid /retention_max_count']],
    [{ timeout_seconds: 0 }, ['timeout_invalid /timeout_seconds']],
    [{ timeout_seconds: 86_401 }, ['timeout_invalid /timeout_seconds']],
    [{ request_id: 'a\nb' }, ['trace_id_invalid /request_id']],
  ])('%j is refused', (raw, wanted) => {
    expect(codes(raw)).toEqual(wanted);
  });

  it('survive a type that keeps only its own', () => {
    const narrow = {
      name: 'narrow',
      normaliseConfig: () => ({ config: { own: 1 }, issues: [] }),
    } as unknown as NodeType;
    expect(normaliseConfig(narrow, { fan_in_mode: 'any', request_id: 'r', other: 1 }).config).toEqual({
      own: 1,
      fan_in_mode: 'any',
      request_id: 'r',
    });
  });

  it.each([...nodeTypes.keys()])('survive the rules of %s, which are stable', (name) => {
    const type = nodeTypes.get(name) as NodeType;
    const own = {
      memory: { action: 'add' },
      plan: { mode: 'deterministic', store_mode: 'append' },
      milestone: { action: 'update' },
    };
    const raw = {
      ...own[name as 'memory'],
      fan_in_mode: 'any',
      request_id: 'r',
      correlation_id: 'c',
      timeout_seconds: 5,
    };
    const { config, issues } = normaliseConfig(type, raw);
    expect(issues).toEqual([]);
    expect(config).toMatchObject({ fan_in_mode: 'any', request_id: 'r', correlation_id: 'c', timeout_seconds: 5 });
    expect(normaliseConfig(type, config)).toEqual({ config, issues: [] });
  });

  it.each(['memory', 'plan', 'milestone'])(
    '[S004-inspector-retention] %s always says how long artifacts are kept',
    (name) => {
      const type = nodeTypes.get(name) as NodeType;
      const defaults = { retention_mode: 'ttl', retention_ttl_seconds: 3_600, retention_max_count: 25 };
      expect(normaliseConfig(type, {}).config).toMatchObject(defaults);
      const given = { retention_mode: 'forever', retention_ttl_seconds: null };
      expect(normaliseConfig(type, given).config).toMatchObject({ ...defaults, retention_mode: 'forever' });
    },
  );
});
