import { setTimeout as wait } from 'node:timers/promises';
import { isTerminal, type RunStatusPayload } from '../../flowcharts/index.ts';
import { wantsColour } from '../../kernel/terminal.ts';
import { type Asking, asking } from './asking.ts';
import { operationNamed } from './operation-named.ts';
import type { Cli } from './run.ts';
import {
  closing,
  emptyView,
  eventLine,
  liveLines,
  type RunView,
  takeEvent,
  takeStatus,
  waitingLines,
} from './run-view.ts';

const POLL_MS = 200;
const PAGE = 200;

interface EventsPage {
  events: Record<string, unknown>[];
  titles: Record<string, string>;
  replay_gap: boolean;
  next_after: number;
  last_sequence: number;
}

/** Follows a run until it ends or the person leaves; resolves with the exit code. */
export async function watchRun(runId: number, cli: Cli): Promise<number> {
  return asking(cli, async (questions) => {
    questions.drive(runId);
    return (await followRun(runId, cli, questions)).exitCode;
  });
}

export interface Followed {
  exitCode: number;
  /** The person left while the run was under way. */
  left: boolean;
  /** Following ended because the run only waits for people, which was shown. */
  waits: boolean;
  /** The last event that was shown. */
  after: number;
}

/** The same with questions that are being asked already; may end as soon as the run only waits for people. */
export async function followRun(
  runId: number,
  cli: Cli,
  { ask }: Asking,
  options: { untilPeople?: boolean; after?: number } = {},
): Promise<Followed> {
  const events = await operationNamed('run.events');
  const status = await operationNamed('run.status');
  const left = new AbortController();
  const leave = (): void => left.abort();
  process.once('SIGINT', leave);
  const show = output(cli);
  const view = emptyView(runId);
  try {
    let after = options.after ?? 0;
    for (;;) {
      // Asked before the events: once the run has ended, those that follow are all there are.
      const standing = (await ask(status, { run_id: runId })) as RunStatusPayload;
      for (;;) {
        const page = (await ask(events, { run_id: runId, after, limit: PAGE })) as EventsPage;
        if (page.replay_gap && after === 0) show.note('Older events are gone; this begins with the oldest there are.');
        for (const event of page.events) {
          takeEvent(view, event, page.titles);
          show.event(event, page.titles);
        }
        after = page.next_after;
        if (page.events.length < PAGE) break;
      }
      takeStatus(view, standing);
      show.redraw(view);
      const isOver = isTerminal(standing.status);
      if (isOver || left.signal.aborted) return { exitCode: finish(view, show), left: !isOver, waits: false, after };
      if (options.untilPeople === true && onlyWaitsForPeople(standing)) {
        return { exitCode: 0, left: false, waits: true, after };
      }
      await wait(POLL_MS, undefined, { signal: left.signal }).catch(() => {});
    }
  } finally {
    process.removeListener('SIGINT', leave);
    show.end();
  }
}

function onlyWaitsForPeople({ status, waiting, counts }: RunStatusPayload): boolean {
  const isAtWork = (counts.running ?? 0) > 0 || (counts.queued ?? 0) > 0;
  return status === 'running' && !isAtWork && waiting.some(({ waits_for }) => waits_for.for === 'person');
}

function finish(view: RunView, show: Output): number {
  const { lines, exitCode } = closing(view, Date.now());
  show.close(lines);
  return exitCode;
}

interface Output {
  event(event: Record<string, unknown>, titles: Record<string, string>): void;
  note(text: string): void;
  redraw(view: RunView): void;
  close(lines: readonly string[]): void;
  end(): void;
}

function output(cli: Cli): Output {
  if (cli.options().json) {
    const nothing = (): void => {};
    return {
      event: (event) => cli.print(JSON.stringify(event)),
      note: cli.tell,
      redraw: nothing,
      close: nothing,
      end: nothing,
    };
  }
  return process.stdout.isTTY ? liveOutput(cli) : plainOutput(cli);
}

function plainOutput(cli: Cli): Output {
  let told = '';
  return {
    event: (event, titles) => cli.print(eventLine(event, titles)),
    note: cli.tell,
    // A wait is said once: whoever reads a log must see what the run is waiting for.
    redraw: (view) => {
      const waits = waitingLines(view).join('\n');
      if (waits !== '' && waits !== told) cli.print(waits);
      told = waits;
    },
    close: (lines) => {
      for (const line of lines) cli.print(line);
    },
    end: () => {},
  };
}

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_TO_END = '\u001b[J';

function liveOutput(cli: Cli): Output {
  const { stdout } = process;
  const colour = wantsColour(cli.environment, true);
  let height = 0;
  let frame = 0;
  const back = () => (height > 0 ? `\u001b[${height}A\r` : '\r');
  const draw = (lines: readonly string[]): void => {
    stdout.write(`${HIDE_CURSOR}${back()}${CLEAR_TO_END}${lines.map((line) => `${line}\n`).join('')}`);
    height = lines.length;
  };
  return {
    event: () => {},
    note: (text) => draw([text]),
    redraw: (view) => {
      frame += 1;
      // A terminal that does not know its size says 0.
      const [rows, columns] = [stdout.rows || 24, stdout.columns || 80];
      draw(liveLines(view, { now_ms: Date.now(), frame, rows, columns, colour }));
    },
    close: (lines) => {
      // Heading and warnings stand in the last picture already.
      for (const line of lines.slice(1)) if (!line.startsWith('  ! ')) stdout.write(`${line}\n`);
    },
    end: () => void stdout.write(SHOW_CURSOR),
  };
}
