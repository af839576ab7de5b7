import { describe, expect, it } from 'vitest';
import { planNode } from '../../src/flowcharts/nodes/plan/index.ts';

type Json = Record<string, unknown>;

const normalise = (raw: Json) => planNode.normaliseConfig(raw);
const migrate = (raw: Json) => (planNode.migrateConfig as (raw: Json) => Json)(raw);
const required = { mode: 'deterministic', store_mode: 'append' };
const paths = (raw: Json) => normalise(raw).issues.map(({ path }) => path);

describe('[S004-plan-config] the config of a plan node', () => {
  it('needs a mode and a store mode', () => {
    expect(paths({})).toEqual(['/mode', '/store_mode']);
    expect(paths({ mode: ' ', store_mode: null })).toEqual(['/mode', '/store_mode']);
    expect(paths({ mode: 'llm-guided', store_mode: 'merge' })).toEqual(['/mode', '/store_mode']);
  });

  it('gets the failure controls it lacks', () => {
    expect(normalise(required)).toEqual({
      config: { ...required, additive_prompt: '', retry_count: 1, fallback_enabled: true },
      issues: [],
    });
  });

  it.each([
    ['append', ['add', 'additive', 'create', 'create_or_update', ' APPEND ']],
    ['replace', ['overwrite', 'set']],
    ['update', ['patch', 'mutate']],
  ])('says %s for its other names', (store_mode, names) => {
    for (const name of names) expect(normalise({ ...required, store_mode: name }).config.store_mode).toBe(store_mode);
  });

  it.each([
    [0, 0],
    [3, 3],
    ['4', 4],
    [99, 5],
    [-2, 0],
    [null, 1],
    ['', 1],
  ])('[S004-plan-retry-clamp] retry_count %j is stored as %j', (given, stored) => {
    expect(normalise({ ...required, retry_count: given })).toMatchObject({
      config: { retry_count: stored },
      issues: [],
    });
  });

  it.each([1.5, 'twice', true, {}])('[S004-plan-retry-clamp] retry_count %j is refused', (retry_count) => {
    expect(paths({ ...required, retry_count })).toEqual(['/retry_count']);
  });

  it('takes the usual words for yes and no', () => {
    for (const [word, value] of [
      ['on', true],
      ['no', false],
      [0, false],
      ['TRUE', true],
    ] as const) {
      expect(normalise({ ...required, fallback_enabled: word }).config.fallback_enabled).toBe(value);
    }
    expect(paths({ ...required, fallback_enabled: 'perhaps' })).toEqual(['/fallback_enabled']);
  });

  it('refuses what is of another kind rather than drop it', () => {
    const wrong = { patch: [1], patch_source_path: 7, additive_prompt: {}, transform_with_llm: 'x', route_key: 1 };
    expect(paths({ ...required, ...wrong }).sort()).toEqual([
      '/additive_prompt',
      '/patch',
      '/patch_source_path',
      '/route_key',
      '/transform_with_llm',
    ]);
  });

  it.each([
    ['append', { stages: [{}] }, ['/patch/stages/0/name']],
    [
      'append',
      { stages: [{ name: 'A', tasks: [{ name: 'B' }, { description: 'x' }] }] },
      ['/patch/stages/0/tasks/1/name'],
    ],
    [
      'append',
      { stages: [{ stage_key: 'a', name: null, tasks: [{ task_id: 'x' }] }] },
      ['/patch/stages/0/tasks/0/task_id'],
    ],
    ['append', { stages: 'oops', name: 7 }, ['/patch/name', '/patch/stages']],
    ['append', { tasks: ['x'] }, ['/patch/tasks/0']],
    ['append', { completed: 'perhaps', description: [] }, ['/patch/description', '/patch/completed']],
    ['replace', { name: 'A' }, ['/patch/stages']],
    ['replace', { stages: [], tasks: [{ task_id: 1 }] }, ['/patch/tasks']],
    [
      'replace',
      { stages: [{ name: 'A', position: 0, tasks: {} }] },
      ['/patch/stages/0/position', '/patch/stages/0/tasks'],
    ],
    ['update', { stages: [{ name: 'A' }] }, ['/patch/stages/0']],
    ['update', { tasks: [{ stage_id: 'x', task_key: 4 }] }, ['/patch/tasks/0/stage_id', '/patch/tasks/0/task_key']],
    ['update', { tasks: [{ task_id: 1, name: ' ' }] }, ['/patch/tasks/0/name']],
  ])('[FLR-plan-patch-shape] refuses a patch that no plan could take: %s %j', (store_mode, patch, wrong) => {
    const { issues } = normalise({ ...required, store_mode, patch });
    expect(issues.map(({ path }) => path)).toEqual(wrong);
    expect(new Set(issues.map(({ code }) => code))).toEqual(new Set(['plan_config_invalid']));
  });

  it.each([
    [
      'append',
      {
        stages: [
          { stage_id: 3, name: null, description: 4 },
          { name: 'A', tasks: [] },
        ],
        tasks: [{}],
        more: 1,
      },
    ],
    ['replace', { stages: [], tasks: [] }],
    ['update', { name: 'A', tasks: [{ task_key: 'a', stage_key: 'b', completed: 'yes' }], stages: [{ id: '7' }] }],
  ])('[FLR-plan-patch-shape] takes a patch that some plan could take: %s %j', (store_mode, patch) => {
    expect(normalise({ ...required, store_mode, patch })).toMatchObject({ config: { patch }, issues: [] });
  });

  it('leaves out what says nothing', () => {
    const { config } = normalise({
      ...required,
      patch: null,
      patch_source_path: ' ',
      route_key: '',
      transform_prompt: '',
    });
    expect(Object.keys(config).sort()).toEqual([
      'additive_prompt',
      'fallback_enabled',
      'mode',
      'retry_count',
      'store_mode',
    ]);
  });

  it('[FLR-common-keys-kept] keeps the keys of other rules', () => {
    const others = {
      fan_in_mode: 'custom',
      fan_in_custom_count: 2,
      request_id: 'r',
      correlation_id: 'c',
      retention_mode: 'max_count',
      timeout_seconds: 9,
      transform_with_llm: true,
      transform_prompt: 'sum up',
      anything: { else: true },
    };
    expect(normalise({ ...required, ...others }).config).toMatchObject(others);
  });

  it('is the same when it is normalised again', () => {
    const { config } = normalise({
      mode: 'llm_guided',
      store_mode: 'set',
      retry_count: '9',
      patch: { name: 'x', stages: [] },
    });
    expect(normalise(config)).toEqual({ config, issues: [] });
  });
});

describe('[S004-inspector-plan] the inspector of a plan node', () => {
  it('has the controls of the contract', () => {
    const keys = planNode.inspector.map(({ key }) => key);
    const wanted =
      'store_mode mode additive_prompt patch patch_source_path retry_count fallback_enabled retention_mode';
    expect(keys).toEqual(expect.arrayContaining(wanted.split(' ')));
    const needed = planNode.inspector.filter(({ required: isNeeded }) => isNeeded).map(({ key }) => key);
    expect(needed.sort()).toEqual(['mode', 'store_mode']);
  });

  it('a node with the defaults of its controls is fit to be saved', () => {
    const fields = planNode.inspector.filter((field) => field.default !== undefined);
    const config = Object.fromEntries(fields.map((field) => [field.key, field.default]));
    expect(normalise(config).issues).toEqual([]);
  });
});

describe('[S004-plan-migration] an old config', () => {
  const defaults = { retry_count: 1, fallback_enabled: true };

  it('gets a mode and a store mode', () => {
    expect(migrate({})).toEqual({ mode: 'deterministic', store_mode: 'append', ...defaults });
    expect(migrate({ mode: 'guided', store_mode: 'nonsense', action: 'dance' })).toEqual({
      mode: 'deterministic',
      store_mode: 'append',
      ...defaults,
    });
    expect(migrate({ mode: 'llm_guided', store_mode: 'overwrite' })).toEqual({
      mode: 'llm_guided',
      store_mode: 'replace',
      ...defaults,
    });
  });

  it.each([
    ['create_or_update_plan', 'append'],
    ['create', 'append'],
    ['read', 'append'],
    ['update_completion', 'append'],
    ['complete', 'append'],
    ['complete_plan_item', 'update'],
    ['complete plan item', 'update'],
    ['Mark-Plan-Item-Complete', 'update'],
    ['mark_task_complete', 'update'],
  ])('with the action %s stores by %s', (action, store_mode) => {
    expect(migrate({ action })).toMatchObject({ store_mode });
    expect(migrate({ action })).not.toHaveProperty('action');
  });

  it('a store mode that is there beats the action', () => {
    expect(migrate({ store_mode: 'replace', action: 'complete_plan_item', plan_item_id: 4 })).toEqual({
      mode: 'deterministic',
      store_mode: 'replace',
      ...defaults,
    });
  });

  it('the item to complete becomes a task of the patch', () => {
    expect(
      migrate({ action: 'complete_plan_item', plan_item_id: '12', patch: { tasks: [{ task_id: 1 }] } }),
    ).toMatchObject({
      patch: { tasks: [{ task_id: 1 }, { task_id: 12, completed: true }] },
    });
    const byKeys = migrate({ action: 'complete_plan_item', stage_key: 'ship', task_key: 'test' });
    expect(byKeys).toEqual({
      mode: 'deterministic',
      store_mode: 'update',
      ...defaults,
      patch: { tasks: [{ stage_key: 'ship', task_key: 'test', completed: true }] },
    });
    expect(migrate({ action: 'complete_plan_item', task_key: 'test' })).not.toHaveProperty('patch');
  });

  it('the path of completions becomes the path of patches, unless there is one', () => {
    expect(migrate({ completion_source_path: 'a.b' })).toMatchObject({ patch_source_path: 'a.b' });
    const both = migrate({ completion_source_path: 'a.b', patch_source_path: 'c' });
    expect(both).toMatchObject({ patch_source_path: 'c' });
    expect(both).not.toHaveProperty('completion_source_path');
  });

  it('failure controls are kept within their bounds, or get their defaults', () => {
    expect(migrate({ retry_count: 9, fallback_enabled: 'off' })).toMatchObject({
      retry_count: 5,
      fallback_enabled: false,
    });
    expect(migrate({ retry_count: -1, fallback_enabled: 'x' })).toMatchObject({
      retry_count: 0,
      fallback_enabled: true,
    });
    expect(migrate({ retry_count: 'x', fallback_enabled: null })).toMatchObject(defaults);
  });

  it('[FLR-common-keys-kept] other keys stay, and what comes out needs no further migration', () => {
    const old = { action: 'complete_plan_item', plan_item_id: 3, fan_in_mode: 'any', route_key: 'go' };
    const migrated = migrate(old);
    expect(migrated).toMatchObject({ fan_in_mode: 'any', route_key: 'go' });
    expect(migrate(migrated)).toEqual(migrated);
    expect(normalise(migrated).issues).toEqual([]);
  });
});
