import { describe, expect, it } from 'vitest';
import { sampleFlow } from '../support/flows.ts';
import { bundleWith, complaints } from './loose-bundle.ts';

const refWith = (id: string) =>
  bundleWith(({ steps }) => {
    steps[0]!.requires = [{ kind: 'tool', id }];
    steps[1]!.skill_refs = [{ kind: 'cli', id }];
  });
const mirror = (path: unknown) => bundleWith(({ flow }) => Object.assign(flow, { vault_mirror_path: path }));
const updated = (time: string) => sampleFlow('flow_sample', { updated: time });

describe('the limits of a flow', () => {
  it('are 1 to 100 steps', () => {
    expect(complaints(sampleFlow('flow_sample', { steps: 100 }))).toEqual([]);
    expect(complaints(sampleFlow('flow_sample', { steps: 101 }))).toEqual(
      expect.arrayContaining(['too_big /flow/steps', 'too_big /steps']),
    );
    expect(complaints(sampleFlow('flow_sample', { steps: 0 }))).toEqual(['too_small /flow/steps', 'too_small /steps']);
  });

  it('are 32 tags of 1 to 64 characters on one line', () => {
    const tags = Array.from({ length: 33 }, (_, at) => `tag ${at}`);
    expect(complaints(sampleFlow('flow_sample', { tags: tags.slice(0, 32) }))).toEqual([]);
    expect(complaints(sampleFlow('flow_sample', { tags }))).toEqual(['too_big /flow/tags']);
    expect(complaints(sampleFlow('flow_sample', { tags: ['', 'a\nb', 'x'.repeat(65)] }))).toEqual([
      'invalid_format /flow/tags/1',
      'too_big /flow/tags/2',
      'too_small /flow/tags/0',
    ]);
  });

  it('are 200 characters of title, 2000 of summary and 8000 of any other text', () => {
    const long = (title: number, summary: number, instruction: number) =>
      sampleFlow('flow_sample', {
        steps: 1,
        title: 'x'.repeat(title),
        summary: 'x'.repeat(summary),
        instruction: 'x'.repeat(instruction),
      });
    expect(complaints(long(200, 2_000, 8_000))).toEqual([]);
    expect(complaints(long(201, 2_001, 8_001))).toEqual([
      'too_big /flow/summary',
      'too_big /flow/title',
      'too_big /steps/0/instruction',
    ]);
  });

  it('are 64 items in any list', () => {
    const bundle = bundleWith(({ steps }) =>
      Object.assign(steps[0]!, { boundaries: Array.from({ length: 65 }, () => 'x') }),
    );
    expect(complaints(bundle)).toEqual(['too_big /steps/0/boundaries']);
  });

  it('are one mebibyte in all', () => {
    const wide = sampleFlow('flow_sample', { steps: 100, instruction: '世'.repeat(3_400) });
    expect(complaints(sampleFlow('flow_sample', { steps: 100, instruction: '世'.repeat(3_000) }))).toEqual([]);
    expect(complaints(wide)).toEqual(['too_big ']);
  });

  it('[S002-8.8-bounded] are checked without comparing every tag to every other', () => {
    const tags = Array.from({ length: 60_000 }, (_, at) => `tag ${at}`);
    const start = performance.now();
    expect(complaints(sampleFlow('flow_sample', { tags }))).toContain('too_big /flow/tags');
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

describe('the handles of a step', () => {
  it.each(['knowtation propose --intent x', 'resume-session', 'docs/ROADMAP.md', 'personal'])('may be %j', (id) => {
    expect(complaints(refWith(id))).toEqual([]);
  });

  it.each([
    ['a code host token', ['ghp', 'aB3dE6gH9kaB3dE6gH9kaB3dE6gH9kaB3dE6'].join('_')],
    ['a model provider key', ['sk', 'aB3dE6gH9kaB3dE6gH9kaB3d'].join('-')],
    ['one of our own tokens', ['flw', 'aB3dE6gH9kaB3dE6gH9kaB3dE6gH9kaB3dE6gH9kaB3'].join('_')],
    ['an address with a password', ['https://anna:', 'hunter2@hub.example'].join('')],
  ])('may not be %s', (_, id) => {
    expect(complaints(refWith(id))).toEqual(['custom /steps/0/requires/0/id', 'custom /steps/1/skill_refs/0/id']);
  });

  it.each(['', 'a\nb', 'a\u0000', 'x'.repeat(257)])('may not be %j', (id) => {
    expect(complaints(refWith(id))).toHaveLength(2);
  });
});

describe('the mirror path of a flow', () => {
  it.each([null, 'meta/flows/handover.md', 'meta/flows/a-b_c.1.md'])('may be %j', (path) => {
    expect(complaints(mirror(path))).toEqual([]);
  });

  it.each([
    'notes/handover.md',
    '/meta/flows/handover.md',
    'meta/flows/../../etc/passwd.md',
    'meta/flows/a/b.md',
    'meta/flows/.md',
    'meta/flows/.hidden.md',
    'meta/flows/handover.txt',
    'meta/flows/handover.md\n',
    'meta/flows/a\u0000.md',
    'meta\\flows\\a.md',
    '',
  ])('may not be %j', (path) => {
    expect(complaints(mirror(path))).toEqual(['invalid_format /flow/vault_mirror_path']);
  });
});

describe('the time of the last change', () => {
  it.each(['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123Z', '2024-02-29T00:00:00Z'])('may be %s', (time) => {
    expect(complaints(updated(time))).toEqual([]);
    expect(Date.parse(time)).not.toBeNaN();
  });

  it.each(['yesterday', '2026-01-31', '2026-02-30T00:00:00Z', '2026-01-31T12:00:00+02:00', '2026-13-01T00:00:00Z', ''])(
    'may not be %j',
    (time) => {
      expect(complaints(updated(time))).toEqual(['invalid_format /flow/updated']);
    },
  );

  it.each(['1', '1.0', 'v1.0.0', '01.0.0', '1.0.0-rc.1', `${'9'.repeat(70)}.0.0`])(
    'the version %s is none',
    (version) => {
      expect(complaints(sampleFlow('flow_sample', { version }))).toEqual([expect.stringMatching(/ \/flow\/version$/)]);
    },
  );
});
