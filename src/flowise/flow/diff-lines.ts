import { cut } from '../../kernel/cut.ts';
import { COLOURS, inertLine, paint } from '../../kernel/terminal.ts';
import type { Connection, FlowDiff, NodeChange, NodeMention } from './diff.ts';
import { type LineChanges, lineChanges } from './line-changes.ts';
import { same } from './same.ts';
import { VALUE_CHARS, valueText } from './value-text.ts';

export const NO_CHANGES = '(no changes)';
/** Lines of a text that are shown of what went and of what came. */
const SHOWN_LINES = 3;
const NAMED_NODES = 10;

/** One line a change, plain and short: for a summary that is stored, sent to a model, or compared. */
export function diffLines(diff: FlowDiff): string[] {
  const lines = [
    ...diff.nodes_added.map((node) => `NODES ADDED: ${mentionText(node)}`),
    ...diff.nodes_removed.map((node) => `NODES REMOVED: ${mentionText(node)}`),
    ...diff.nodes_changed.flatMap(nodeLines),
    ...diff.connections_added.map((connection) => `CONNECTED: ${connectionText(connection)}`),
    ...diff.connections_removed.map((connection) => `DISCONNECTED: ${connectionText(connection)}`),
    ...diff.fields_changed.map((field) => `FIELD CHANGED: ${inertLine(field)}`),
  ];
  if (diff.nodes_moved.length > 0) lines.push(`NODES MOVED: ${movedText(diff.nodes_moved)}`);
  if (diff.viewport_changed) lines.push('VIEWPORT CHANGED');
  return lines.length === 0 ? [NO_CHANGES] : lines;
}

function nodeLines(node: NodeChange): string[] {
  const id = `[${inertLine(node.node_id)}]`;
  const lines: string[] = [];
  if (node.label_before !== undefined) {
    lines.push(`LABEL SET: ${id} ${valueText(node.label_before)} -> ${valueText(node.label)}`);
  }
  for (const { name, before, after } of node.params) {
    lines.push(`PARAM SET: ${id} ${inertLine(name)}: ${changeText(before, after)}`);
  }
  if (node.credential) lines.push(`CREDENTIAL SET: ${id} ${credentialText(node.credential)}`);
  if (node.output) {
    lines.push(`OUTPUT SET: ${id} ${valueText(node.output.before)} -> ${valueText(node.output.after)}`);
  }
  if (node.fields.length > 0) lines.push(`NODE CHANGED: ${id} ${node.fields.map(inertLine).join(', ')}`);
  return lines;
}

type Sign = '+' | '-' | '~';
const COLOUR_OF: Record<Sign, string> = { '+': COLOURS.green, '-': COLOURS.red, '~': COLOURS.yellow };

/** The same for a person at a terminal, node by node. What somebody wrote is made inert before a colour is added. */
export function renderDiff(diff: FlowDiff, { colour }: { colour: boolean }): string {
  const lines: string[] = [];
  const say = (sign: Sign, text: string, indent = '') => {
    const line = `${indent}${sign} ${text}`;
    lines.push(colour ? paint(COLOUR_OF[sign], line) : line);
  };
  for (const node of diff.nodes_added) say('+', `node ${headingText(node)}`);
  for (const node of diff.nodes_removed) say('-', `node ${headingText(node)}`);
  for (const node of diff.nodes_changed) {
    say('~', `node ${headingText(node)}`);
    for (const detail of nodeDetails(node)) say(detail.sign, detail.text, detail.indent);
  }
  for (const connection of diff.connections_added) say('+', `connection ${connectionText(connection)}`);
  for (const connection of diff.connections_removed) say('-', `connection ${connectionText(connection)}`);
  for (const field of diff.fields_changed) say('~', `field ${inertLine(field)} of the flow`);
  if (diff.nodes_moved.length > 0) say('~', `moved ${movedText(diff.nodes_moved)}`);
  if (diff.viewport_changed) say('~', 'viewport');
  return lines.length === 0 ? NO_CHANGES : lines.join('\n');
}

interface Detail {
  sign: Sign;
  text: string;
  indent: string;
}

function nodeDetails(node: NodeChange): Detail[] {
  const details: Detail[] = [];
  const tell = (text: string) => details.push({ sign: '~', text, indent: '    ' });
  if (node.label_before !== undefined) tell(`label: ${valueText(node.label_before)} -> ${valueText(node.label)}`);
  for (const { name, before, after } of node.params) {
    tell(`${inertLine(name)}: ${changeText(before, after)}`);
    details.push(...innerLines(before, after));
  }
  if (node.credential) tell(`credential ${credentialText(node.credential)}`);
  if (node.output) tell(`output: ${valueText(node.output.before)} -> ${valueText(node.output.after)}`);
  if (node.fields.length > 0) tell(`also ${node.fields.map(inertLine).join(', ')}`);
  return details;
}

/** The first lines that went and came, of texts that have several. */
function innerLines(before: unknown, after: unknown): Detail[] {
  const lines = same(before, after) ? null : changedLines(before, after);
  return lines === null ? [] : [...innerOf('-', lines.removed), ...innerOf('+', lines.added)];
}

function innerOf(sign: Sign, lines: readonly string[]): Detail[] {
  const indent = '        ';
  const shown = lines.slice(0, SHOWN_LINES).map((line) => ({ sign, text: cut(inertLine(line), VALUE_CHARS), indent }));
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, { sign, text: `… ${counted(rest, 'more line')}`, indent }] : shown;
}

function changeText(before: unknown, after: unknown): string {
  // Hidden, both sides read the same; that they differ is all that may be told.
  if (same(before, after)) return 'a secret in it changed';
  const lines = changedLines(before, after);
  if (lines === null) return `${valueText(before)} -> ${valueText(after)}`;
  return `${counted(lines.added.length, 'line')} added, ${counted(lines.removed.length, 'line')} removed`;
}

/** Of two texts of which one has several lines; null for other values, which are told themselves. */
function changedLines(before: unknown, after: unknown): LineChanges | null {
  if (typeof before !== 'string' || typeof after !== 'string') return null;
  return before.includes('\n') || after.includes('\n') ? lineChanges(before, after) : null;
}

function credentialText({ before, after }: { before: string | null; after: string | null }): string {
  if (before === null) return `bound: ${inertLine(after ?? '')}`;
  if (after === null) return `unbound: ${inertLine(before)}`;
  return `replaced: ${inertLine(before)} -> ${inertLine(after)}`;
}

function mentionText({ node_id, label, node_name }: NodeMention): string {
  return `[${inertLine(node_id)}] label=${valueText(label)} name=${valueText(node_name)}`;
}

function headingText({ node_id, label, node_name }: NodeMention): string {
  return `${inertLine(node_id)} ${valueText(label)} (${inertLine(node_name)})`;
}

export function connectionText({ source, source_anchor, target, target_anchor }: Connection): string {
  const end = (node: string, anchor: string) => inertLine(anchor === '' ? node : `${node}.${anchor}`);
  return `${end(source, source_anchor)} -> ${end(target, target_anchor)}`;
}

function movedText(ids: readonly string[]): string {
  const named = ids.slice(0, NAMED_NODES).map(inertLine).join(', ');
  return ids.length > NAMED_NODES ? `${named} and ${ids.length - NAMED_NODES} more` : named;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
