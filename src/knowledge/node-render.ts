import { cut } from '../kernel/cut.ts';
import { inertLine, textTable } from '../kernel/terminal.ts';
import type { KnowledgeNodeResponse, KnowledgeNodesResponse, NodeRecord } from './node-record.ts';

const SHOWN_OPTIONS = 12;
const SHOWN_VALUE = 60;
const BLANKS = '    ';

export function nodeTable({ items, count, total_count, offset }: KnowledgeNodesResponse): string {
  if (total_count === 0) return 'No node type fits. Try a shorter word, or leave the category out.';
  const rows = items.map(({ node_type, label, category, badge }) => [node_type, label, category, badge ?? '']);
  const rest = count < total_count ? `\n${count} of ${total_count}; --offset ${offset + count} goes on` : '';
  return textTable(['NAME', 'LABEL', 'CATEGORY', ''], rows) + rest;
}

export function nodeCard({ node }: KnowledgeNodeResponse): string {
  const { node_type, label, category, version, badge, description, credential } = node;
  const head = [
    inertLine(`${node_type}  ${label} (${category}, version ${version}${badge === null ? '' : `, ${badge}`})`),
    ...(description === null ? [] : [inertLine(description)]),
    ...(credential ? [inertLine(`credential  ${credential.types.join(' or ')}${mark(credential.required)}`)] : []),
  ];
  const inputs = node.inputs.map(({ name, types, required, list }) =>
    entry(`${name}  ${types.join(' | ')}${list ? ', several' : ''}${mark(required)}`),
  );
  const outputs = node.outputs.map(({ name, types }) => entry(`${name}  ${types.join(' | ')}`));
  return [
    ...head,
    ...part('inputs (target_anchor)', inputs),
    ...part('outputs (source_anchor)', outputs),
    ...part('params', node.params.map(paramLine)),
  ].join('\n');
}

function part(title: string, lines: string[]): string[] {
  return ['', lines.length > 0 ? title : `${title}: none`, ...lines];
}

function entry(text: string): string {
  return `${BLANKS}${inertLine(text)}`;
}

function mark(isRequired: boolean): string {
  return isRequired ? ', required' : '';
}

function paramLine(param: NodeRecord['params'][number]): string {
  const { name, type, required, options, fields, takes_variables, shown_when } = param;
  const shown = options.slice(0, SHOWN_OPTIONS).join(', ');
  const more = options.length > SHOWN_OPTIONS ? `, … (${options.length})` : '';
  const said = [
    `${name}  ${type}${mark(required)}`,
    ...(param.default === undefined || param.default === '' ? [] : [`default ${valueText(param.default)}`]),
    ...(options.length > 0 ? [`one of ${shown}${more}`] : []),
    ...(fields.length > 0 ? [`entries of ${fields.join(', ')}`] : []),
    ...(takes_variables ? ['takes variables'] : []),
    ...(shown_when === null ? [] : [`when ${shown_when}`]),
  ];
  return entry(said.join(', '));
}

function valueText(value: unknown): string {
  return cut(inertLine(typeof value === 'string' ? value : JSON.stringify(value)), SHOWN_VALUE);
}
