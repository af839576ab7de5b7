import { describe, expect, it } from 'vitest';
import { retentionOf } from '../../src/artifacts/index.ts';

const NOW = new Date('2030-01-01T00:00:00.000Z');
const of = (config: Record<string, unknown>) => retentionOf(config, NOW);

describe('retention of an artifact', () => {
  it('is an hour unless the node says otherwise [S004-retention-defaults]', () => {
    expect(of({})).toEqual({ retention_mode: 'ttl', expires_at: '2030-01-01T01:00:00.000Z', keep: null });
    expect(of({ retention_mode: 'max_count' }).keep).toBe(25);
    expect(of({ retention_mode: 'ttl_max_count' })).toEqual({
      retention_mode: 'ttl_max_count',
      expires_at: '2030-01-01T01:00:00.000Z',
      keep: 25,
    });
  });

  it.each([
    ['forever', 'forever'],
    ['none', 'forever'],
    ['disabled', 'forever'],
    ['ttl', 'ttl'],
    ['max', 'max_count'],
    [' MAX_COUNT ', 'max_count'],
    ['ttl_max', 'ttl_max_count'],
    ['ttl+max', 'ttl_max_count'],
    ['ttl_max_count', 'ttl_max_count'],
    ['anything else', 'ttl'],
    ['constructor', 'ttl'],
    [7, 'ttl'],
  ])('reads the word %s as %s [S004-retention-words]', (word, mode) => {
    expect(of({ retention_mode: word }).retention_mode).toBe(mode);
  });

  it('neither expires nor counts what is kept for ever [S004-retention-words]', () => {
    const config = { retention_mode: 'forever', retention_ttl_seconds: 5, retention_max_count: 2 };
    expect(of(config)).toEqual({ retention_mode: 'forever', expires_at: null, keep: null });
  });

  it('takes at least a second and at least one, and a default for what is no number [FLR-retention-bounds]', () => {
    expect(of({ retention_ttl_seconds: 0 }).expires_at).toBe('2030-01-01T00:00:01.000Z');
    expect(of({ retention_ttl_seconds: '60' }).expires_at).toBe('2030-01-01T00:01:00.000Z');
    expect(of({ retention_ttl_seconds: 'soon' }).expires_at).toBe('2030-01-01T01:00:00.000Z');
    expect(of({ retention_mode: 'max', retention_max_count: -3 }).keep).toBe(1);
    expect(of({ retention_mode: 'max', retention_max_count: null }).keep).toBe(25);
    expect(Date.parse(of({ retention_ttl_seconds: 1e300 }).expires_at as string)).toBeGreaterThan(NOW.getTime());
  });

  it('keeps the two newest that have not expired: ttl 60, max 2, runs at 0, 30, 50 and 100 [S004-retention-example]', () => {
    const config = { retention_mode: 'ttl_max_count', retention_ttl_seconds: 60, retention_max_count: 2 };
    let kept: { at: number; expires_at: string }[] = [];
    const runAt = (seconds: number) => {
      const now = new Date(NOW.getTime() + seconds * 1_000);
      const { expires_at, keep } = retentionOf(config, now);
      const alive = [...kept, { at: seconds, expires_at: expires_at as string }].filter(
        (row) => row.expires_at > now.toISOString(),
      );
      kept = alive.slice(-(keep as number));
      return kept.map(({ at }) => at);
    };
    expect([0, 30, 50, 100].map(runAt)).toEqual([[0], [0, 30], [30, 50], [50, 100]]);
  });
});
