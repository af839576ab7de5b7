import { COLOURS, inertLine, paint } from '../../kernel/terminal.ts';
import { changeLines, changeTexts } from './change-text.ts';
import type { AddedNode, Connection, FlowDiff, NodeChange, NodeMention } from './diff.ts';
import { decisionText, valueText } from './value-text.ts';

export const NO_CHANGES = '(no changes)';
const NAMED_NODES = 10;

/** One line a change, plain and short: for a summary that is stored, sent to a model, or compared. */
export function diffLines(diff: FlowDiff): string[] {
  const lines = [
    ...diff.nodes_added.flatMap(addedLines),
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

function addedLines(node: AddedNode): string[] {
  const id = `[${inertLine(node.node_id)}]`;
  const lines = [`NODES ADDED: ${mentionText(node)}`];
  for (const { name, after } of node.params ?? []) {
    lines.push(`PARAM SET: ${id} ${inertLine(name)}: ${decisionText(after)}`);
  }
  if (node.credential !== undefined) lines.push(`CREDENTIAL SET: ${id} ${boundText(node.credential)}`);
  return lines;
}

function nodeLines(node: NodeChange): string[] {
  const id = `[${inertLine(node.node_id)}]`;
  const lines: string[] = [];
  if (node.label_before !== undefined) {
    lines.push(...changeTexts(node.label_before, node.label).map((text) => `LABEL SET: ${id} ${text}`));
  }
  for (const { name, before, after } of node.params) {
    lines.push(...changeTexts(before, after).map((text) => `PARAM SET: ${id} ${inertLine(name)}: ${text}`));
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
  for (const node of diff.nodes_added) {
    say('+', `node ${headingText(node)}`);
    for (const detail of addedDetails(node)) say('+', detail, INSIDE);
  }
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

const INSIDE = '    ';

function addedDetails({ params = [], credential }: AddedNode): string[] {
  const lines = params.map(({ name, after }) => `${inertLine(name)}: ${decisionText(after)}`);
  return credential === undefined ? lines : [...lines, `credential ${boundText(credential)}`];
}

function nodeDetails(node: NodeChange): Detail[] {
  const details: Detail[] = [];
  const tell = (text: string) => details.push({ sign: '~', text, indent: INSIDE });
  const tellChange = (name: string, before: unknown, after: unknown) => {
    const { headline, lines } = changeLines(before, after);
    tell(`${name}: ${headline}`);
    details.push(...lines.map((line) => ({ ...line, indent: INSIDE + INSIDE })));
  };
  if (node.label_before !== undefined) tellChange('label', node.label_before, node.label);
  for (const { name, before, after } of node.params) tellChange(inertLine(name), before, after);
  if (node.credential) tell(`credential ${credentialText(node.credential)}`);
  if (node.output) tell(`output: ${valueText(node.output.before)} -> ${valueText(node.output.after)}`);
  if (node.fields.length > 0) tell(`also ${node.fields.map(inertLine).join(', ')}`);
  return details;
}

function boundText(credential: string | null): string {
  return credential === null ? 'not bound' : `bound: ${inertLine(credential)}`;
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
