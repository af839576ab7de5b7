import { describe, expect, it } from 'vitest';
import type { RunStatusPayload } from '../../src/flowcharts/index.ts';
import { closing, emptyView, eventLine, liveLines, takeEvent, takeStatus } from '../../src/surfaces/cli/run-view.ts';

const AT = '2030-01-01T00:00:00.000Z';
const NOW = Date.parse('2030-01-01T00:00:04.000Z');
const SCREEN = { now_ms: NOW, frame: 0, rows: 24, columns: 80, colour: false };

function nodeEvent(nodeRun: number, status: string, more: Record<string, unknown> = {}) {
  return {
    event_type: 'flowchart.node.updated',
    flowchart_run_id: 12,
    flowchart_node_id: nodeRun,
    flowchart_node_type: 'task',
    node_run_id: nodeRun,
    execution_index: 1,
    status,
    started_at: AT,
    finished_at: status === 'running' ? null : '2030-01-01T00:00:01.500Z',
    emitted_at: AT,
    ...more,
  };
}

function standing(more: Partial<RunStatusPayload> = {}): RunStatusPayload {
  return {
    id: 12,
    flowchart_id: 1,
    status: 'running',
    created_at: AT,
    started_at: AT,
    finished_at: null,
    counts: { running: 1, succeeded: 1 },
    error: null,
    error_code: null,
    warning_count: 0,
    warnings: [],
    waiting: [],
    ...more,
  };
}

describe('the view of a run', () => {
  it('shows a mark and the time for each node, and turns while one runs [FLR-watch-live]', () => {
    const view = emptyView(12);
    takeEvent(view, nodeEvent(1, 'succeeded'), { '1': 'Draft' });
    takeEvent(view, nodeEvent(2, 'running'), { '2': 'Review' });
    takeEvent(view, nodeEvent(3, 'failed', { error: 'no luck' }));
    takeStatus(view, standing());
    expect(liveLines(view, SCREEN)).toEqual([
      'run 12: running  4.0 s  (1 running, 1 succeeded)',
      '  ✓ Draft (task)  1.5 s',
      '  ⠋ Review (task)  4.0 s',
      '  ✗ task 3 (task)  1.5 s  no luck',
    ]);
    expect(liveLines(view, { ...SCREEN, frame: 1 })[2]).toContain('⠙');
  });

  it('keeps to the screen: active nodes stay, the oldest that are done go [FLR-watch-live]', () => {
    const view = emptyView(12);
    takeEvent(view, nodeEvent(1, 'running'));
    for (let at = 2; at <= 100; at += 1) takeEvent(view, nodeEvent(at, 'succeeded'));
    const lines = liveLines(view, { ...SCREEN, rows: 12, columns: 20 });
    expect(lines.length).toBeLessThanOrEqual(12);
    expect(lines[1]).toContain('task 1');
    expect(lines.some((line) => line.includes('task 100'))).toBe(true);
    expect(lines.every((line) => [...line].length <= 20)).toBe(true);
    const crowded = emptyView(12);
    for (let at = 1; at <= 100; at += 1) takeEvent(crowded, nodeEvent(at, 'running'));
    expect(liveLines(crowded, { ...SCREEN, rows: 12 }).length).toBeLessThanOrEqual(12);
  });

  it('says how a person answers what the run waits for [FLR-watch-waiting]', () => {
    const view = emptyView(12);
    takeEvent(view, nodeEvent(7, 'waiting'));
    const waits_for = { for: 'person', prompt: 'Ship it?' };
    takeStatus(view, standing({ waiting: [{ node_run_id: 7, flowchart_node_id: 7, node_title: 'Gate', waits_for }] }));
    const shown = liveLines(view, SCREEN).join('\n');
    expect(shown).toContain('⏸');
    expect(shown).toContain('Gate waits for a person: Ship it?');
    expect(shown).toContain('flowright task answer 7');
    expect(closing(view, NOW)).toMatchObject({ exitCode: 1 });
    expect(closing(view, NOW).lines.at(-1)).toContain('flowright run watch 12');
  });

  it('prints one plain line an event [FLR-watch-plain]', () => {
    expect(eventLine(nodeEvent(1, 'succeeded', { execution_index: 2 }), { '1': 'Draft' })).toBe(
      `${AT}  Draft #2  succeeded  1.5 s`,
    );
    const run = { event_type: 'flowchart.run.updated', flowchart_run_id: 12, status: 'running', emitted_at: AT };
    expect(eventLine({ ...run, transition: 'started' })).toBe(`${AT}  run 12  running (started)`);
    const artifact = nodeEvent(1, '', {
      event_type: 'flowchart:node_artifact:persisted',
      artifact_id: 4,
      artifact_type: 'plan',
    });
    expect(eventLine(artifact)).toBe(`${AT}  task 1  left plan artifact 4`);
  });

  it('lets no text of a run reach the terminal as anything but text [FLR-watch-inert]', () => {
    const view = emptyView(12);
    const hostile = '\u001b[2Jgone\nnext';
    takeEvent(view, nodeEvent(1, 'failed', { error: hostile }), { '1': hostile });
    takeStatus(
      view,
      standing({
        status: 'failed',
        error: hostile,
        warning_count: 1,
        warnings: [
          { code: null, flowchart_run_node_id: null, flowchart_node_id: null, message: hostile, updated_at: null },
        ],
      }),
    );
    const all = [
      ...liveLines(view, SCREEN),
      ...closing(view, NOW).lines,
      eventLine(nodeEvent(1, 'failed', { error: hostile })),
    ];
    expect(all.join('')).not.toContain('\u001b');
    expect(all.join('')).not.toContain('\n');
  });

  it.each([
    ['completed', 0],
    ['failed', 2],
    ['stopped', 1],
    ['canceled', 1],
    ['running', 1],
  ] as const)('ends with the code of how the run stands: %s is %i [FLR-watch-exit-codes]', (status, code) => {
    const view = emptyView(12);
    takeStatus(view, standing({ status }));
    expect(closing(view, NOW).exitCode).toBe(code);
  });
});
