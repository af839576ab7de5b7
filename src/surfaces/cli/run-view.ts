import {
  duration,
  isTerminal,
  nodeName as nameOf,
  type RunStatusPayload,
  waitingLine,
} from '../../flowcharts/index.ts';
import { COLOURS, inertLine, paint } from '../../kernel/terminal.ts';

/** What a view shows of an event; the rest of it is of no interest here. */
export type ViewedEvent = Record<string, unknown>;

interface NodeLine {
  title: string;
  type: string;
  status: string;
  started_ms: number;
  finished_ms: number | null;
  note: string;
}

/** What is known of a run so far: made of its events, and of its status where events do not tell. */
export interface RunView {
  run_id: number;
  status: RunStatusPayload['status'];
  started_ms: number | null;
  finished_ms: number | null;
  error: string | null;
  /** By node run, in the order of their first event. */
  nodes: Map<number, NodeLine>;
  counts: Record<string, number>;
  warnings: string[];
  warning_count: number;
  waiting: RunStatusPayload['waiting'];
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const MARKS: Record<string, [mark: string, colour: string]> = {
  succeeded: ['✓', COLOURS.green],
  failed: ['✗', COLOURS.red],
  waiting: ['⏸', COLOURS.yellow],
  canceled: ['⊘', COLOURS.dim],
  queued: ['·', COLOURS.dim],
};
/** Lines beside those of nodes: heading, counts, warnings, waits. */
const MAX_WARNINGS = 3;
const MAX_WAITS = 3;
/** A question must be read whole to be answered, within reason. */
const MAX_WRAPS = 4;

export function emptyView(runId: number): RunView {
  return {
    run_id: runId,
    status: 'queued',
    started_ms: null,
    finished_ms: null,
    error: null,
    nodes: new Map(),
    counts: {},
    warnings: [],
    warning_count: 0,
    waiting: [],
  };
}

/** Takes in one event of the run. Titles are by node id. */
export function takeEvent(view: RunView, event: ViewedEvent, titles: Readonly<Record<string, string>> = {}): void {
  if (event.event_type === 'flowchart.run.updated') {
    view.status = (event.status as RunView['status'] | undefined) ?? view.status;
    view.started_ms = timeOf(event.started_at) ?? view.started_ms;
    view.finished_ms = timeOf(event.finished_at) ?? view.finished_ms;
  }
  if (event.event_type !== 'flowchart.node.updated') return;
  const id = event.node_run_id as number;
  const known = view.nodes.get(id);
  view.nodes.set(id, {
    title: nodeName(event, titles),
    type: String(event.flowchart_node_type ?? ''),
    status: String(event.status ?? ''),
    started_ms: timeOf(event.started_at) ?? known?.started_ms ?? timeOf(event.emitted_at) ?? 0,
    finished_ms: timeOf(event.finished_at),
    note: typeof event.error === 'string' ? event.error : '',
  });
}

/** Takes in how the run stands; what events said of it before gives way. */
export function takeStatus(view: RunView, status: RunStatusPayload): void {
  view.status = status.status;
  view.started_ms = timeOf(status.started_at);
  view.finished_ms = timeOf(status.finished_at);
  view.error = status.error;
  view.counts = status.counts;
  view.warnings = status.warnings.map(({ message }) => message);
  view.warning_count = status.warning_count;
  view.waiting = status.waiting;
}

export interface Screen {
  now_ms: number;
  /** Which picture of the spinner. */
  frame: number;
  rows: number;
  columns: number;
  colour: boolean;
}

/** The live view: as many lines as fit, what runs now before what is done. */
export function liveLines(view: RunView, screen: Screen): string[] {
  const painted = painter(screen.colour);
  const head = headLine(view, screen.now_ms);
  const foot = [
    ...warningLines(view),
    ...waitingLines(view)
      .slice(0, MAX_WAITS)
      .flatMap((text) => text.split('\n'))
      .flatMap((line) => wrapped(line, screen.columns)),
  ];
  const room = Math.max(1, screen.rows - foot.length - 4);
  const shown = chooseNodes([...view.nodes.values()], room);
  const nodes = shown.map((node) => nodeLine(node, screen, painted));
  const hidden = view.nodes.size - shown.length;
  return [
    painted(COLOURS.bold, shorten(head, screen.columns)),
    ...nodes,
    ...(hidden > 0 ? [painted(COLOURS.dim, shorten(`  and ${hidden} more`, screen.columns))] : []),
    ...foot.map((line) => painted(COLOURS.yellow, shorten(line, screen.columns))),
  ];
}

/** Active ones always, then the newest that are done; in the order in which they began. */
function chooseNodes(nodes: readonly NodeLine[], room: number): NodeLine[] {
  if (nodes.length <= room) return [...nodes];
  const active = nodes.filter(isActive).slice(-room);
  const done = nodes.filter((node) => !isActive(node)).slice(active.length - room || nodes.length);
  const chosen = new Set([...active, ...done]);
  return nodes.filter((node) => chosen.has(node));
}

function isActive({ status }: NodeLine): boolean {
  return status === 'running' || status === 'waiting' || status === 'queued';
}

function nodeLine(node: NodeLine, { now_ms, frame, columns }: Screen, painted: Painter): string {
  const spinner = FRAMES[frame % FRAMES.length] as string;
  const [mark, colour] = MARKS[node.status] ?? [spinner, COLOURS.bold];
  const elapsed = duration((node.finished_ms ?? now_ms) - node.started_ms);
  const note = node.note === '' ? '' : `  ${inertLine(node.note)}`;
  const text = `${node.title} (${node.type})  ${elapsed}${note}`;
  return `  ${painted(colour, mark)} ${shorten(inertLine(text), columns - 4)}`;
}

function headLine(view: RunView, nowMs: number): string {
  const elapsed = view.started_ms === null ? '' : `  ${duration((view.finished_ms ?? nowMs) - view.started_ms)}`;
  return `run ${view.run_id}: ${view.status}${elapsed}${countsText(view)}`;
}

function countsText({ counts }: RunView): string {
  const parts = Object.entries(counts).map(([status, count]) => `${count} ${status}`);
  return parts.length > 0 ? `  (${parts.join(', ')})` : '';
}

function warningLines({ warnings, warning_count }: RunView): string[] {
  const more = warning_count - Math.min(warnings.length, MAX_WARNINGS);
  return [
    ...warnings.slice(0, MAX_WARNINGS).map((message) => `  ! ${inertLine(message)}`),
    ...(more > 0 ? [`  ! and ${more} more warnings`] : []),
  ];
}

/** One event as one plain line, for pipes and logs. */
export function eventLine(event: ViewedEvent, titles: Readonly<Record<string, string>> = {}): string {
  const at = String(event.emitted_at ?? '');
  switch (event.event_type) {
    case 'flowchart.run.updated': {
      const transition = event.transition ? ` (${event.transition})` : '';
      return inertLine(`${at}  run ${event.flowchart_run_id}  ${event.status}${transition}`);
    }
    case 'flowchart.node.updated': {
      const [started, finished] = [timeOf(event.started_at), timeOf(event.finished_at)];
      const took = started !== null && finished !== null ? `  ${duration(finished - started)}` : '';
      const error = typeof event.error === 'string' ? `  ${event.error}` : '';
      return inertLine(`${at}  ${nodeName(event, titles)}  ${event.status}${took}${error}`);
    }
    case 'flowchart:node_artifact:persisted':
      return inertLine(`${at}  ${nodeName(event, titles)}  left ${event.artifact_type} artifact ${event.artifact_id}`);
    default:
      return inertLine(`${at}  ${event.event_type}`);
  }
}

/** What the run waits for and how to answer; empty once it has ended. */
export function waitingLines({ status, waiting }: RunView): string[] {
  return isTerminal(status) ? [] : waiting.map(waitingLine);
}

/** What to say when the watching ends, beside what was shown on the way, and the exit code: 0 completed, 2 failed, 1 otherwise. */
export function closing(view: RunView, nowMs: number): { lines: string[]; exitCode: 0 | 1 | 2 } {
  const lines = [headLine(view, nowMs), ...warningLines(view)];
  if (view.error !== null) lines.push(`  error: ${inertLine(view.error)}`);
  if (isTerminal(view.status)) {
    lines.push(`  more: flowright run show ${view.run_id}`);
  } else {
    lines.push(`The run is left as it is. Watch it again with: flowright run watch ${view.run_id}`);
  }
  return { lines, exitCode: view.status === 'completed' ? 0 : view.status === 'failed' ? 2 : 1 };
}

function nodeName(event: ViewedEvent, titles: Readonly<Record<string, string>>): string {
  const id = String(event.flowchart_node_id);
  const title = nameOf({
    node_title: (Object.hasOwn(titles, id) ? titles[id] : undefined) ?? null,
    node_type: String(event.flowchart_node_type),
    flowchart_node_id: Number(event.flowchart_node_id),
  });
  const index = Number(event.execution_index ?? 1);
  return index > 1 ? `${title} #${index}` : title;
}

type Painter = (colour: string, text: string) => string;

function painter(isWanted: boolean): Painter {
  return isWanted ? paint : (_colour, text) => text;
}

function shorten(text: string, columns: number): string {
  const characters = [...text];
  return characters.length <= columns ? text : `${characters.slice(0, Math.max(0, columns - 1)).join('')}…`;
}

/** Broken between words where it does not fit. */
function wrapped(text: string, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(/(?<= )/)) {
    const line = lines.at(-1) as string;
    const fits = [...line, ...word.trimEnd()].length <= columns;
    if (fits || line.trim() === '' || lines.length === MAX_WRAPS) lines[lines.length - 1] = line + word;
    else lines.push(`    ${word}`);
  }
  return lines.map((line) => line.trimEnd());
}

function timeOf(value: unknown): number | null {
  return typeof value === 'string' ? Date.parse(value) : null;
}
