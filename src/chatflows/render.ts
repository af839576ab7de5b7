import { type FlowDiff, renderDiff } from '../flowise/index.ts';
import { inert, inertLine, textTable } from '../kernel/terminal.ts';
import type { Compiled } from './patch-operations.ts';
import type { ChatflowItem, FlowDiffRecord, VersionRecord } from './record.ts';
import type { WrittenRecord } from './written.ts';

const SHORT = 12;
const shortHash = (hash: string | null): string => (hash === null ? '-' : hash.slice(0, SHORT));

interface Page {
  count: number;
  total_count: number;
}

const rest = ({ count, total_count }: Page): string => (count < total_count ? `\n${count} of ${total_count}` : '');

export function chatflowTable(payload: Page & { server: string; items: ChatflowItem[] }): string {
  if (payload.items.length === 0) return `${inertLine(payload.server)} has no chatflows.`;
  const rows = payload.items.map(({ chatflow_id, type, node_count, deployed, updated_at, name }) => [
    chatflow_id,
    type,
    String(node_count),
    deployed ? 'yes' : 'no',
    updated_at ?? '-',
    name,
  ]);
  return textTable(['ID', 'TYPE', 'NODES', 'DEPLOYED', 'UPDATED', 'NAME'], rows) + rest(payload);
}

export function chatflowCard(payload: {
  name: string;
  chatflow_id: string;
  type: string;
  flow_hash: string;
  canvas_url: string;
  nodes: {
    node_id: string;
    node_name: string;
    label: string;
    credential_bound: boolean | null;
    params: Record<string, unknown>;
  }[];
  connections: string[];
}): string {
  const lines = [
    inertLine(`${payload.name} (${payload.type})`),
    inertLine(`id         ${payload.chatflow_id}`),
    `flow_hash  ${payload.flow_hash}`,
    inertLine(`canvas     ${payload.canvas_url}`),
    '',
    ...payload.nodes.flatMap(({ node_id, node_name, label, credential_bound, params }) => [
      inertLine(`${node_id}  ${label} (${node_name})${CREDENTIAL_WORDS[String(credential_bound)] ?? ''}`),
      ...Object.entries(params).map(([name, value]) => inertLine(`    ${name} = ${shown(value)}`)),
    ]),
  ];
  const connections = payload.connections.length > 0 ? ['', ...payload.connections.map(inertLine)] : [];
  return [...lines, ...connections].join('\n');
}

const CREDENTIAL_WORDS: Record<string, string> = { true: '  credential bound', false: '  no credential' };

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function historyTable(payload: Page & { chatflow_id: string; items: VersionRecord[] }): string {
  if (payload.items.length === 0) {
    return 'No versions yet. `flowright chatflow sync` records what the server has.';
  }
  const rows = payload.items.map((item) => [
    String(item.version),
    item.created_at,
    item.origin,
    item.author || '-',
    shortHash(item.flow_hash),
    item.label ?? '-',
    item.message === '' ? item.summary : `${item.summary} (${item.message})`,
  ]);
  return textTable(['VERSION', 'AT', 'ORIGIN', 'BY', 'HASH', 'LABEL', 'WHAT'], rows) + rest(payload);
}

export function versionCard({ version, label, summary, created_at }: VersionRecord): string {
  const name = label === null ? 'without a label' : `labelled ${label}`;
  return inertLine(`Version ${version} of ${created_at} is ${name}: ${summary}`);
}

interface Problem {
  code: string;
  message: string;
  path: string;
}

const problems = (word: string, list: Problem[]): string[] =>
  list.map(({ code, message, path }) => inertLine(`${word} ${path || '/'} ${message} (${code})`));

export function judgementCard(payload: {
  valid: boolean;
  node_count: number;
  edge_count: number;
  errors: Problem[];
  warnings: Problem[];
}): string {
  const { valid, node_count, edge_count, errors, warnings } = payload;
  const head = valid
    ? `Valid: ${node_count} nodes, ${edge_count} connections.`
    : `Not valid: ${errors.length} error${errors.length === 1 ? '' : 's'}.`;
  return [head, ...problems('error  ', errors), ...problems('warning', warnings)].join('\n');
}

export function diffCard(payload: { from: string; to: string; diff: FlowDiffRecord }, colour: boolean): string {
  return `${inertLine(`from ${payload.from} to ${payload.to}`)}\n${renderDiff(payload.diff as FlowDiff, { colour })}`;
}

export function compiledCard(payload: Compiled, colour: boolean): string {
  const { ok, diff, errors, warnings, tools_to_create, base_hash, payload_hash } = payload;
  const lines = [
    renderDiff(diff as FlowDiff, { colour }),
    ...tools_to_create.flatMap(toolLines),
    ...problems('error  ', errors),
    ...problems('warning', warnings),
  ];
  const end = ok
    ? ['', `base_hash     ${base_hash ?? '(new chatflow)'}`, `payload_hash  ${payload_hash}`, 'Nothing was written.']
    : ['', 'It cannot be applied. Nothing was written.'];
  return [...lines, ...end].join('\n');
}

function toolLines({ name, description, schema, func }: Compiled['tools_to_create'][number]): string[] {
  const code = func.split('\n').map((line) => inert(`    ${line}`));
  return [inertLine(`+ tool ${name}: ${description}`), inertLine(`    arguments: ${schema}`), ...code];
}

export function writtenCard(payload: WrittenRecord): string {
  if (payload.dry_run) return plannedCard(payload);
  const what = payload.created ? 'Made' : 'Changed';
  return [
    inertLine(`${what} ${payload.name} on ${payload.server}: ${payload.summary}`),
    inertLine(`id         ${payload.chatflow_id}`),
    `version    ${payload.version}`,
    `flow_hash  ${payload.flow_hash}`,
    inertLine(`canvas     ${payload.canvas_url}`),
    ...payload.tools_created.map((name) => inertLine(`stored the tool ${name}`)),
    ...payload.notes.map(inertLine),
    ...problems('warning', payload.warnings),
  ].join('\n');
}

function plannedCard({ created, name, server, diff_summary, notes, warnings }: WrittenRecord): string {
  return [
    inertLine(`Would ${created ? 'make' : 'change'} ${name} on ${server}:`),
    inert(diff_summary),
    ...notes.map(inertLine),
    ...problems('warning', warnings),
  ].join('\n');
}

export function syncedCard(payload: {
  server: string;
  looked_at: number;
  recorded: { chatflow_id: string; name: string; version: number; summary: string }[];
  writes: { write_id: string; outcome: string }[];
}): string {
  const { server, looked_at, recorded, writes } = payload;
  const head = `Looked at ${looked_at} chatflow${looked_at === 1 ? '' : 's'} of ${server}: ${recorded.length} changed.`;
  return [
    inertLine(head),
    ...recorded.map((entry) =>
      inertLine(`${entry.chatflow_id}  version ${entry.version}  ${entry.name}: ${entry.summary}`),
    ),
    ...writes.map(({ write_id, outcome }) => inertLine(`${write_id}: ${OUTCOMES[outcome] ?? outcome}`)),
  ].join('\n');
}

const OUTCOMES: Record<string, string> = {
  written: 'a write that was cut off had arrived',
  absent: 'a write that was cut off had not arrived; nothing of it is there',
  superseded: 'a write that was cut off was followed by another edit',
  open: 'a write is still under way',
};

export function exportCard(payload: Page & { files: { content: string }[] }): string {
  return payload.files.map(({ content }) => inert(content)).join('') + rest(payload);
}
