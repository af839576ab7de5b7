import { describe, expect, it } from 'vitest';
import { applyMilestone } from '../../src/flowcharts/nodes/milestone/apply.ts';
import { readMilestoneConfig } from '../../src/flowcharts/nodes/milestone/config.ts';
import { milestoneNode } from '../../src/flowcharts/nodes/milestone/index.ts';
import { milestoneOutcome } from '../../src/flowcharts/nodes/milestone/outcome.ts';
import { type Milestone, NEW_MILESTONE } from '../../src/milestones/index.ts';

type Json = Record<string, unknown>;

const TIME = '2026-01-01T00:00:00.000Z';
const open: Milestone = { ...NEW_MILESTONE, id: 4, name: 'Beta', created_at: TIME, updated_at: TIME };
const normalise = (raw: Json) => milestoneNode.normaliseConfig(raw);
const paths = (raw: Json) => normalise(raw).issues.map(({ path }) => path);
const apply = (config: Json, input: unknown = {}, before = open) =>
  applyMilestone(before, readMilestoneConfig({ action: 'create_or_update', ...config }), input);

describe('[S004-milestone-config] the config of a milestone node', () => {
  it('needs an action', () => {
    expect(paths({})).toEqual(['/action']);
    expect(paths({ action: 'dance' })).toEqual(['/action']);
    expect(normalise({ action: 'mark_complete' })).toEqual({
      config: { action: 'mark_complete', additive_prompt: '' },
      issues: [],
    });
  });

  it.each([
    ['create_or_update', ['update', 'checkpoint', 'read', 'create', 'create/update']],
    ['mark_complete', ['complete', 'mark milestone complete']],
  ])('says %s for its other names', (action, names) => {
    for (const name of names) expect(normalise({ action: name }).config.action).toBe(action);
  });

  it('checks the words of its patch when it is saved', () => {
    expect(paths({ action: 'update', patch: { status: 'finished', health: 'green', progress_percent: 'x' } })).toEqual([
      '/patch/status',
      '/patch/progress_percent',
    ]);
    expect(paths({ action: 'update', patch: 'x' })).toEqual(['/patch']);
  });

  it('checks its counts and switches', () => {
    const wrong = { loop_checkpoint_every: -1, loop_exit_after_runs: 1.5, terminate_always: 'x' };
    expect(paths({ action: 'update', ...wrong }).sort()).toEqual([
      '/loop_checkpoint_every',
      '/loop_exit_after_runs',
      '/terminate_always',
    ]);
    expect(normalise({ action: 'update', loop_checkpoint_every: '3', terminate_on_checkpoint: 'yes' }).config).toEqual({
      action: 'create_or_update',
      additive_prompt: '',
      loop_checkpoint_every: 3,
      terminate_on_checkpoint: true,
    });
  });

  it('[FLR-common-keys-kept] keeps the keys of other rules, and its own mark_complete', () => {
    const others = {
      fan_in_mode: 'any',
      correlation_id: 'c',
      retention_ttl_seconds: 9,
      mark_complete: true,
      other: [1],
    };
    const { config } = normalise({ action: 'update', ...others });
    expect(config).toMatchObject(others);
    expect(normalise(config)).toEqual({ config, issues: [] });
  });

  it('[S004-inspector-milestone] has a control for each, and their defaults are fit to be saved', () => {
    const keys = milestoneNode.inspector.map(({ key }) => key);
    expect(keys).toEqual(
      expect.arrayContaining(['action', 'additive_prompt', 'retention_mode', 'retention_max_count']),
    );
    const fields = milestoneNode.inspector.filter((field) => field.default !== undefined);
    expect(normalise(Object.fromEntries(fields.map((field) => [field.key, field.default]))).issues).toEqual([]);
  });
});

describe('[S004-milestone-actions] what a milestone node makes of its milestone', () => {
  it('applies the patch, then what came along, then the prompt', () => {
    const input = {
      latest_upstream: { output_state: { report: { progress_percent: 55, status: 'at_risk', stray: 1 } } },
    };
    const { after } = apply(
      {
        patch: { owner: 'Ada', progress_percent: 20, priority: 'high', latest_update: 'from the patch' },
        completion_source_path: 'latest_upstream.output_state.report',
        additive_prompt: 'Going well',
      },
      input,
    );
    expect(after).toEqual({
      ...open,
      owner: 'Ada',
      priority: 'high',
      progress_percent: 55,
      status: 'in_progress',
      latest_update: 'Going well',
    });
  });

  it('takes from what came along only what is about the milestone, and of completed only a yes', () => {
    const source = { completed: false, owner: 'Mallory', priority: 'low', name: ' ' };
    expect(apply({ completion_source_path: 'x' }, { x: source }).after).toEqual(open);
    expect(apply({ completion_source_path: 'x' }, { x: { completed: true } }).after).toMatchObject({
      status: 'done',
      completed: true,
      progress_percent: 100,
    });
  });

  it('says when nothing came along', () => {
    expect(apply({ completion_source_path: 'a.b' }).action_results).toEqual(['There is nothing at a.b.']);
    expect(apply({ completion_source_path: 'a' }, { a: 7 }).action_results[0]).toContain('no object');
    expect(apply({}).action_results).toEqual(['The milestone is as it was.']);
  });

  it('leaves a milestone done that a prompt only comments on', () => {
    const done = { ...open, status: 'done' as const, completed: true, progress_percent: 100 };
    expect(apply({ additive_prompt: 'Party' }, {}, done).after).toEqual({ ...done, latest_update: 'Party' });
  });

  it('marks complete by action or by flag', () => {
    const complete = { status: 'done', completed: true, progress_percent: 100 };
    expect(apply({ action: 'mark_complete', additive_prompt: 'Shipped' }).after).toMatchObject({
      ...complete,
      latest_update: 'Shipped',
    });
    expect(apply({ mark_complete: true, patch: { owner: 'Ada' } }).after).toMatchObject({ ...complete, owner: 'Ada' });
    expect(apply({ patch: { status: 'done' } }).after).toMatchObject(complete);
  });

  it('[FLR-milestone-rules] a word that is none fails the node', () => {
    const fails = expect.objectContaining({ code: 'milestone_patch_invalid' });
    expect(() => apply({ completion_source_path: 'x' }, { x: { status: 'finished' } })).toThrow(fails);
    expect(() => apply({ patch: { start_date: '2026-02-01', due_date: '2026-01-01' } })).toThrow(fails);
  });
});

describe('[FLR-milestone-terminate] whether the run goes on', () => {
  const outcome = (config: Json, index: number, after: Milestone = open) =>
    milestoneOutcome(readMilestoneConfig({ action: 'create_or_update', ...config }), index, {
      before: open,
      after,
      action_results: [],
    });
  const ends = (config: Json, index: number, after?: Milestone) =>
    outcome(config, index, after).routing_state.terminate_run === true;
  const reached = { ...open, completed: true };

  it.each<[string, Json, number, Milestone, boolean]>([
    ['nothing is configured', {}, 5, reached, false],
    ['always', { terminate_always: true }, 1, open, true],
    ['on complete, and it is', { terminate_on_complete: true }, 1, reached, true],
    ['on complete, and it is not', { terminate_on_complete: true }, 1, open, false],
    ['on a checkpoint that is hit', { loop_checkpoint_every: 3, terminate_on_checkpoint: true }, 6, open, true],
    ['on a checkpoint that is not', { loop_checkpoint_every: 3, terminate_on_checkpoint: true }, 5, open, false],
    ['a checkpoint alone', { loop_checkpoint_every: 3 }, 3, open, false],
    ['after two rounds, in the first', { loop_exit_after_runs: 2 }, 1, open, false],
    ['after two rounds, in the second', { loop_exit_after_runs: 2 }, 2, open, true],
    ['after two rounds, in the third', { loop_exit_after_runs: 2 }, 3, open, true],
  ])('%s', (_, config, index, after, isOver) => expect(ends(config, index, after)).toBe(isOver));

  it('tells of the checkpoint and takes the route of the end', () => {
    const config = {
      loop_checkpoint_every: 2,
      route_key: 'again',
      route_key_on_terminate: 'out',
      loop_exit_after_runs: 4,
    };
    expect(outcome(config, 1)).toMatchObject({
      output_state: { checkpoint_hit: false, execution_index: 1 },
      routing_state: { route_key: 'again' },
    });
    expect(outcome(config, 4)).toMatchObject({
      output_state: { checkpoint_hit: true },
      routing_state: { route_key: 'out', terminate_run: true },
    });
    expect(outcome({ route_key: 'again', terminate_always: true }, 1).routing_state.route_key).toBe('again');
  });

  it('[S004-milestone-artifact] the artifact has every key of the contract', () => {
    const payload = milestoneNode.artifactPayload?.(outcome({ additive_prompt: 'x' }, 1));
    const keys = 'action action_results additive_prompt checkpoint_hit before_milestone milestone routing_state';
    expect(Object.keys(payload ?? {})).toEqual(keys.split(' '));
  });
});
