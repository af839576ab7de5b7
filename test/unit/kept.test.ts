import { describe, expect, it, vi } from 'vitest';
import { type Freshness, Kept } from '../../src/database/index.ts';
import { type Ready, whenReady } from '../../src/kernel/ready.ts';

/** Revisions set by hand, known at once or after a turn. */
function fakeFreshness(answer: (revision: number) => Ready<number> = (revision) => revision) {
  const revisions = new Map<string, number>();
  const freshness: Freshness = { revision: (topic) => answer(revisions.get(topic) ?? 0) };
  return { freshness, bump: (topic: string) => revisions.set(topic, (revisions.get(topic) ?? 0) + 1) };
}

describe('a value that may be there already', () => {
  it('goes on at once when it is there', () => {
    expect(whenReady(2, (value) => value * 2)).toBe(4);
  });

  it('goes on later when it is not', async () => {
    const later = whenReady(Promise.resolve(2), (value) => value * 2);
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toBe(4);
  });

  it('passes a failure on without going on', async () => {
    const next = vi.fn();
    await expect(whenReady(Promise.reject(new Error('no')), next)).rejects.toThrow('no');
    expect(next).not.toHaveBeenCalled();
  });
});

describe('answers kept ready', () => {
  it('are computed once and then there at once', async () => {
    const kept = new Kept<string>(fakeFreshness().freshness, 10);
    const compute = vi.fn(async () => 'answer');
    expect(await kept.get('flows:a', 'q', compute)).toBe('answer');
    expect(kept.get('flows:a', 'q', compute)).toBe('answer');
    expect(compute).toHaveBeenCalledTimes(1);
  });

  it('are computed anew when their topic moved, and only then', async () => {
    const { freshness, bump } = fakeFreshness();
    const kept = new Kept<number>(freshness, 10);
    let now = 1;
    await kept.get('flows:a', 'q', async () => now);
    now = 2;
    bump('flows:b');
    expect(kept.get('flows:a', 'q', async () => now)).toBe(1);
    bump('flows:a');
    expect(await kept.get('flows:a', 'q', async () => now)).toBe(2);
    expect(kept.get('flows:a', 'q', async () => now)).toBe(2);
  });

  it('are apart for different questions', async () => {
    const kept = new Kept<string>(fakeFreshness().freshness, 10);
    await kept.get('t', 'one', async () => 'first');
    await kept.get('t', 'two', async () => 'second');
    expect(kept.get('t', 'one', async () => 'x')).toBe('first');
    expect(kept.get('t', 'two', async () => 'x')).toBe('second');
  });

  it('can be null', async () => {
    const kept = new Kept<string | null>(fakeFreshness().freshness, 10);
    const compute = vi.fn(async () => null);
    await kept.get('t', 'q', compute);
    expect(kept.get('t', 'q', compute)).toBeNull();
    expect(compute).toHaveBeenCalledTimes(1);
  });

  it('come later when the revision has to be asked for', async () => {
    const kept = new Kept<string>(fakeFreshness(async (revision) => revision).freshness, 10);
    const compute = vi.fn(async () => 'answer');
    await kept.get('t', 'q', compute);
    expect(kept.get('t', 'q', compute)).toBeInstanceOf(Promise);
    expect(await kept.get('t', 'q', compute)).toBe('answer');
    expect(compute).toHaveBeenCalledTimes(1);
  });

  it('are computed once for all who ask meanwhile', async () => {
    const kept = new Kept<string>(fakeFreshness().freshness, 10);
    const compute = vi.fn(async () => 'answer');
    const answers = await Promise.all([1, 2, 3].map(() => kept.get('t', 'q', compute)));
    expect(answers).toEqual(['answer', 'answer', 'answer']);
    expect(compute).toHaveBeenCalledTimes(1);
  });

  it('are not shared with who asks after the topic moved', async () => {
    const { freshness, bump } = fakeFreshness();
    const kept = new Kept<string>(freshness, 10);
    const before = kept.get('t', 'q', async () => 'before');
    bump('t');
    const after = kept.get('t', 'q', async () => 'after');
    expect(await Promise.all([before, after])).toEqual(['before', 'after']);
    expect(kept.get('t', 'q', async () => 'later')).toBe('after');
  });

  it('never include a failure', async () => {
    const kept = new Kept<string>(fakeFreshness().freshness, 10);
    await expect(kept.get('t', 'q', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await kept.get('t', 'q', async () => 'answer')).toBe('answer');
  });

  it('are not served stale when a slow computation ends after the topic moved', async () => {
    const { freshness, bump } = fakeFreshness();
    const kept = new Kept<string>(freshness, 10);
    let finish: (value: string) => void = () => {};
    const slow = kept.get('t', 'q', () => new Promise((resolve) => (finish = resolve)));
    bump('t');
    await kept.get('t', 'q', async () => 'new');
    finish('old');
    expect(await slow).toBe('old');
    expect(await kept.get('t', 'q', async () => 'new')).toBe('new');
  });

  it('make room by dropping the oldest', async () => {
    const { freshness, bump } = fakeFreshness();
    const kept = new Kept<string>(freshness, 2);
    const again = async () => 'again';
    await kept.get('t', 'a', async () => 'a');
    await kept.get('t', 'b', async () => 'b');
    bump('u');
    await kept.get('u', 'a', async () => 'a, renewed');
    await kept.get('t', 'c', async () => 'c');
    expect(kept.get('u', 'a', again)).toBe('a, renewed');
    expect(kept.get('t', 'c', again)).toBe('c');
    expect(await kept.get('t', 'b', again)).toBe('again');
  });
});
