import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Policy } from '../../src/policy/index.ts';
import { AUTHORING_POLICY_FILE, PROPOSAL_POLICY_FILE } from '../../src/policy/policy-keys.ts';
import { DEFAULT_RUBRIC, RUBRIC_FILE } from '../../src/policy/rubric.ts';
import { NO_TRIGGERS, TRIGGERS_FILE } from '../../src/policy/triggers.ts';
import { tempFolder } from '../support/home.ts';

const ALL = [AUTHORING_POLICY_FILE, PROPOSAL_POLICY_FILE, TRIGGERS_FILE, RUBRIC_FILE];
const put = (folder: string, file: string, content: unknown) =>
  writeFileSync(join(folder, file), typeof content === 'string' ? content : JSON.stringify(content));

describe('the policy files of a data folder', () => {
  it('[S003-6-tri-state] hold at once when they are written, changed and removed', () => {
    const folder = tempFolder();
    const policy = new Policy(folder, {});
    expect(policy.values().flow_authoring_writes_enabled).toBe(false);
    put(folder, AUTHORING_POLICY_FILE, { flow_authoring_writes_enabled: true });
    expect(policy.values().flow_authoring_writes_enabled).toBe(true);
    put(folder, AUTHORING_POLICY_FILE, 'gone wrong');
    expect(policy.values()).toMatchObject({ flow_authoring_writes_enabled: false, flow_authoring_forbidden: true });
    rmSync(join(folder, AUTHORING_POLICY_FILE));
    expect(policy.values()).toMatchObject({ flow_authoring_writes_enabled: false, flow_authoring_forbidden: false });
  });

  it('[S003-6-tri-state] that are folders cannot be read, so they close', () => {
    const folder = tempFolder();
    for (const file of ALL) mkdirSync(join(folder, file));
    const policy = new Policy(folder, { FLOW_AUTHORING_WRITES: true, HUB_EVALUATOR_MAY_APPROVE: true });
    expect(policy.values()).toMatchObject({
      flow_authoring_writes_enabled: false,
      flow_authoring_forbidden: true,
      proposal_evaluation_required: true,
      evaluator_may_approve: false,
    });
    expect(policy.damaged()).toEqual(ALL.map((file) => ({ file, reason: expect.stringContaining('EISDIR') })));
  });

  it('with nothing wrong are not listed as damaged', () => {
    const folder = tempFolder();
    expect(new Policy(folder, {}).damaged()).toEqual([]);
    put(folder, AUTHORING_POLICY_FILE, {});
    put(folder, PROPOSAL_POLICY_FILE, { proposal_evaluation_required: true });
    put(folder, TRIGGERS_FILE, {});
    put(folder, RUBRIC_FILE, { items: [{ id: 'legal', label: 'Counsel has read it' }] });
    expect(new Policy(folder, {}).damaged()).toEqual([]);
  });
});

describe('the rubric', () => {
  it('has five items unless a file says otherwise', () => {
    const rubric = new Policy(tempFolder(), {}).rubric();
    expect(rubric).toEqual(DEFAULT_RUBRIC);
    expect(rubric.map(({ id }) => id)).toEqual(['accurate', 'no_secrets', 'matches_intent', 'pii', 'tone']);
  });

  it('is replaced by its file', () => {
    const folder = tempFolder();
    put(folder, RUBRIC_FILE, { items: [{ id: 'legal', label: 'Counsel has read it' }] });
    expect(new Policy(folder, {}).rubric()).toEqual([{ id: 'legal', label: 'Counsel has read it' }]);
  });

  it.each<[string, unknown]>([
    ['not JSON', '{'],
    ['a list', []],
    ['without items', {}],
    ['empty, so that a pass would need nothing', { items: [] }],
    ['an item without a label', { items: [{ id: 'a' }] }],
    ['an item without an id', { items: [{ id: '', label: 'x' }] }],
    ['an id that is too long', { items: [{ id: 'a'.repeat(65), label: 'x' }] }],
    ['a label that is too long', { items: [{ id: 'a', label: 'x'.repeat(501) }] }],
    ['an unknown key', { items: [], extra: 1 }],
    ['too many items', { items: Array.from({ length: 101 }, (_, at) => ({ id: `i${at}`, label: '' })) }],
  ])('[S003-6-tri-state] that is damaged judges nothing: %s', (_, content) => {
    const folder = tempFolder();
    put(folder, RUBRIC_FILE, content);
    const policy = new Policy(folder, {});
    expect(() => policy.rubric()).toThrow(expect.objectContaining({ code: 'POLICY_FILE_DAMAGED' }));
    expect(policy.damaged()).toEqual([{ file: RUBRIC_FILE, reason: expect.stringMatching(/\S/) }]);
  });
});

describe('the review triggers', () => {
  it('are none without a file', () => {
    expect(new Policy(tempFolder(), {}).triggers()).toEqual({ value: NO_TRIGGERS });
  });

  it('of a file may leave lists out', () => {
    const folder = tempFolder();
    put(folder, TRIGGERS_FILE, { path_prefixes: [{ prefix: 'legal' }] });
    expect(new Policy(folder, {}).triggers()).toEqual({
      value: { literal_phrases: [], path_prefixes: [{ prefix: 'legal' }], label_any: [] },
    });
  });

  it.each<[string, unknown]>([
    ['not JSON', 'nope'],
    ['a list', []],
    ['an unknown list', { regexes: [] }],
    ['a blank phrase', { literal_phrases: [{ match: '' }] }],
    ['a phrase that is too long', { literal_phrases: [{ match: 'x'.repeat(129) }] }],
    ['too many phrases', { literal_phrases: Array.from({ length: 201 }, () => ({ match: 'a' })) }],
    ['too many prefixes', { path_prefixes: Array.from({ length: 65 }, () => ({ prefix: 'a' })) }],
    ['too many label rules', { label_any: Array.from({ length: 65 }, () => ({ labels: ['a'] })) }],
    ['too many labels', { label_any: [{ labels: Array.from({ length: 33 }, (_, at) => `l${at}`) }] }],
    ['a rule without labels', { label_any: [{ labels: [] }] }],
    ['a severity that is none', { literal_phrases: [{ match: 'a', review_severity: 'high' }] }],
    ['a queue that is blank', { literal_phrases: [{ match: 'a', review_queue: ' ' }] }],
    ['a queue that is too long', { literal_phrases: [{ match: 'a', review_queue: 'q'.repeat(65) }] }],
  ])('[FLR-triggers] are damaged by %s', (_, content) => {
    const folder = tempFolder();
    put(folder, TRIGGERS_FILE, content);
    const policy = new Policy(folder, {});
    expect(policy.triggers()).toEqual({ damaged: expect.stringMatching(/\S/) });
    expect(policy.damaged()).toEqual([{ file: TRIGGERS_FILE, reason: expect.stringMatching(/\S/) }]);
  });

  it('[FLR-triggers] may be as many as the limits say', () => {
    const folder = tempFolder();
    put(folder, TRIGGERS_FILE, {
      literal_phrases: Array.from({ length: 200 }, (_, at) => ({ match: `p${at}`.padEnd(128, 'x') })),
      path_prefixes: Array.from({ length: 64 }, (_, at) => ({ prefix: `f${at}` })),
      label_any: Array.from({ length: 64 }, () => ({ labels: Array.from({ length: 32 }, (_, at) => `l${at}`) })),
    });
    expect(new Policy(folder, {}).triggers()).toHaveProperty('value.literal_phrases.length', 200);
  });
});
