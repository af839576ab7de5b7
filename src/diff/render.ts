import type { Flow, FlowStep } from '../flows/index.ts';
import { COLOURS, inert, inertLine, paint } from '../kernel/terminal.ts';
import type { ChangedStep, FlowChange, FlowDiff } from './change.ts';
import { rewordedText } from './reworded.ts';
import { STEP_TEXTS, stepText } from './step-text.ts';

/** A difference with the names it goes by. */
export interface NamedDiff extends FlowDiff {
  flow_id: string;
  from: string | null;
  to: string | null;
  proposal_id: string | null;
}

type Sign = '+' | '-' | '~';
const COLOUR_OF: Record<Sign, string> = { '+': COLOURS.green, '-': COLOURS.red, '~': COLOURS.yellow };

/** What a change says: its sign, one line as it was written and, where there is more to read, an inert text beneath. */
interface Entry {
  sign: Sign;
  line: string;
  text?: string;
}

/**
 * A difference for a person at a terminal: what changed of the flow, then step by step. Everything that somebody wrote
 * is made inert before a colour is added, and lines of it are set in, so that it cannot pass for ours.
 */
export async function renderFlowDiff(diff: NamedDiff, { colour }: { colour: boolean }): Promise<string> {
  const ink = (sequence: string, line: string): string => {
    const inertly = inertLine(line);
    return colour ? paint(sequence, inertly) : inertly;
  };
  const lines = [ink(COLOURS.bold, headline(diff))];
  let section = '';
  for (const change of diff.changes) {
    const step = 'step' in change ? change.step : null;
    const next = step ? stepHeading(step) : 'Flow';
    if (next !== section) lines.push('', ink(COLOURS.bold, next));
    section = next;
    const { sign, line, text } = await entryOf(change, colour);
    lines.push(`  ${ink(COLOUR_OF[sign], `${sign} ${line}`)} ${ink(COLOURS.dim, `(${change.impact})`)}`);
    if (text) lines.push(...text.split('\n').map((one) => `      ${one}`));
  }
  if (diff.changes.length === 0) lines.push('', 'No difference.');
  else lines.push('', ink(COLOURS.bold, closing(diff)));
  if (diff.advice) lines.push(ink(COLOURS.yellow, diff.advice));
  return lines.join('\n');
}

function headline({ flow_id, from, to, proposal_id }: NamedDiff): string {
  const proposal = proposal_id ? ` (proposal ${proposal_id})` : '';
  return `${flow_id} ${from ?? 'nothing'} → ${to ?? 'nothing'}${proposal}`;
}

function closing({ implied, declared }: NamedDiff): string {
  return `These changes imply: ${implied}${declared ? ` (the version says: ${declared})` : ''}`;
}

function stepHeading({ before_ordinal, after_ordinal, owned_job }: ChangedStep): string {
  const isShifted = before_ordinal !== null && after_ordinal !== null && before_ordinal !== after_ordinal;
  const was = isShifted ? ` (was ${before_ordinal})` : '';
  return `Step ${after_ordinal ?? before_ordinal}${was}: ${owned_job}`;
}

async function entryOf(change: FlowChange, colour: boolean): Promise<Entry> {
  switch (change.kind) {
    case 'flow_added':
      return { sign: '+', line: `flow: ${change.after.title} [${change.after.scope}]`, text: wholeFlow(change.after) };
    case 'flow_retired':
      return { sign: '-', line: `flow retired: ${change.before.title}`, text: wholeFlow(change.before) };
    case 'title_reworded':
    case 'summary_reworded':
      return reworded(change.kind === 'title_reworded' ? 'title' : 'summary', change, colour);
    case 'field_reworded':
      return reworded(change.field, change, colour);
    case 'boundary_reworded':
      return reworded('boundary', change, colour);
    case 'step_added':
      return { sign: '+', line: 'new step', text: wholeStep(change.after) };
    case 'step_removed':
      return { sign: '-', line: 'step removed', text: wholeStep(change.before) };
    case 'step_moved':
      return { sign: '~', line: `moved from place ${change.step.before_ordinal} to ${change.step.after_ordinal}` };
    case 'list_reordered':
      return { sign: '~', line: `other order: ${change.path.split('/').at(-1)}` };
    case 'step_input_changed': {
      const isSameText = change.before.from === change.after.from;
      const note = isSameText ? ' (the number now means another step)' : '';
      return { sign: '~', line: `${nounOf(change)}: ${wordsFor(change.before)} → ${wordsFor(change.after)}${note}` };
    }
    default:
      return plainEntry(change);
  }
}

type Valued = Exclude<FlowChange, { kind: 'step_moved' | 'list_reordered' }>;

/** Added, removed or changed from one short value to another. */
function plainEntry(change: Valued): Entry {
  const noun = nounOf(change);
  if (!('after' in change)) return { sign: '-', line: `${noun}: ${wordsFor(change.before)}` };
  if (!('before' in change)) return { sign: '+', line: `${noun}: ${wordsFor(change.after)}` };
  return { sign: '~', line: `${noun}: ${wordsFor(change.before)} → ${wordsFor(change.after)}` };
}

/** step_input_added → step input; verification_tightened stays whole, for the second word says the most. */
function nounOf({ kind }: FlowChange): string {
  return kind.replace(/_(added|removed|changed)$/, '').replaceAll('_', ' ');
}

function wordsFor(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value !== 'object') return String(value);
  const parts = Object.entries(value).map(([key, part]) => {
    if (typeof part === 'boolean') return part ? key.replaceAll('_', ' ') : `no ${key.replaceAll('_', ' ')}`;
    return String(part);
  });
  return parts.join(', ');
}

async function reworded(name: string, change: { before: string; after: string }, colour: boolean): Promise<Entry> {
  const line = name.replaceAll(/[._]/g, ' ');
  return { sign: '~', line, text: await rewordedText(change.before, change.after, colour) };
}

/** All that a flow says beside its steps. */
function wholeFlow(flow: Flow): string {
  return [
    `summary: ${inert(flow.summary).replaceAll('\n', '\n  ')}`,
    inertLine(`tags: ${flow.tags.join(', ') || 'none'}`),
    ...flow.inputs.map((input) => inertLine(`input: ${wordsFor(input)}`)),
    inertLine(`mirror path: ${flow.vault_mirror_path ?? 'by its id'}`),
  ].join('\n');
}

/** All that a step says, one line a field; texts keep their lines, set in below the first. */
function wholeStep(step: FlowStep): string {
  const { kind, evidence_required } = step.verification;
  const lists = (['requires', 'boundaries', 'skill_refs', 'inputs', 'outputs'] as const).flatMap((list) =>
    step[list].map((item) => inertLine(`${list.replaceAll('_', ' ')}: ${wordsFor(item)}`)),
  );
  return [
    ...STEP_TEXTS.map(
      (field) => `${field.replaceAll(/[._]/g, ' ')}: ${inert(stepText(step, field)).replaceAll('\n', '\n  ')}`,
    ),
    ...lists,
    inertLine(`proof: ${wordsFor({ kind, evidence_required })}`),
    inertLine(`automatable: ${step.automatable}`),
  ].join('\n');
}
