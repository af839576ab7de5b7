import type { NodeInput, NodeSchema } from '../flowise/index.ts';
import { isSecretShaped, REDACTED } from '../kernel/secrets.ts';
import { inertLine } from '../kernel/terminal.ts';
import { anchorsOf } from './anchors.ts';
import type { CredentialEntry, TemplateEntry } from './port.ts';

/**
 * What a prompt may be given of the knowledge: small slices, each with a hard limit, never a snapshot. Names and
 * descriptions come from other systems, so each stays on its line.
 */
export const SLICE_LIMITS = {
  /** Characters of the line of node names. */
  names: 16_000,
  params: 10,
  options: 12,
  anchors: 20,
  templates: 3,
  credentials: 20,
} as const;

const VALUE_LIMIT = 60;
const DESCRIPTION_LIMIT = 200;
const NAME_LIMIT = 100;

/** For planning: names and categories, no parameters. */
export function nodeNamesSlice(nodes: Iterable<Pick<NodeSchema, 'node_type' | 'category'>>): string {
  const named = [...nodes].map(({ node_type, category }) => `${clipped(node_type)} (${clipped(category)})`);
  const shown: string[] = [];
  let length = 'Available nodes: '.length;
  for (const name of named) {
    length += name.length + 2;
    if (length > SLICE_LIMITS.names) break;
    shown.push(name);
  }
  const left = named.length - shown.length;
  return `Available nodes: ${[...shown, ...(left > 0 ? [`… and ${left} more`] : [])].join(', ')}`;
}

type Sliced = Pick<NodeSchema, 'node_type' | 'category' | 'input_params' | 'input_anchors' | 'output_anchors'>;

/** For adding one node: its parameters, those that are required or named in the plan first, and one line of anchors. */
export function nodeParamsSlice(node: Sliced, named: readonly string[] = []): string {
  const mentioned = new Set(named.map((name) => name.toLowerCase()));
  const rank = (input: NodeInput) => (isRequired(input) ? 0 : mentioned.has(input.name.toLowerCase()) ? 1 : 2);
  const params = node.input_params
    .filter((input) => input.hidden !== true)
    .sort((left, right) => rank(left) - rank(right))
    .slice(0, SLICE_LIMITS.params);
  const left = node.input_params.length - params.length;
  return [
    `${clipped(node.node_type)} (${clipped(node.category)}), parameters:`,
    ...params.map((input) => `- ${paramLine(input)}`),
    ...(left > 0 ? [`- … and ${left} more`] : []),
    anchorsLine(node),
  ].join('\n');
}

export function templatesSlice(templates: readonly TemplateEntry[]): string {
  return templates
    .slice(0, SLICE_LIMITS.templates)
    .map(({ name, tags, description }) => {
      const words = tags.slice(0, SLICE_LIMITS.options).map((tag) => clipped(tag));
      const text = description === '' ? '' : `: ${clipped(description, DESCRIPTION_LIMIT)}`;
      return `- ${clipped(name)} [${words.join(', ')}]${text}`;
    })
    .join('\n');
}

export function credentialsSlice(credentials: readonly Pick<CredentialEntry, 'name' | 'type'>[]): string {
  const shown = credentials.slice(0, SLICE_LIMITS.credentials);
  const left = credentials.length - shown.length;
  const pairs = shown.map(({ name, type }) => `- ${clipped(name)} (${clipped(type)})`);
  return [...pairs, ...(left > 0 ? [`- … and ${left} more`] : [])].join('\n');
}

function paramLine(input: NodeInput): string {
  const options = (input.options ?? []).map((option) => clipped(String(option?.name ?? option)));
  const more = options.length > SLICE_LIMITS.options ? ', …' : '';
  const choice = options.length > 0 ? `, one of ${options.slice(0, SLICE_LIMITS.options).join(', ')}${more}` : '';
  return `${clipped(input.name)}: ${clipped(input.type)}, ${isRequired(input) ? 'required' : 'optional'}${choice}${defaultText(input)}`;
}

function defaultText(input: NodeInput): string {
  if (input.default === undefined || input.default === '' || input.type === 'password') return '';
  const value = typeof input.default === 'string' ? input.default : JSON.stringify(input.default);
  return `, default ${clipped(value, VALUE_LIMIT)}`;
}

/** A value that is there already need not be given. */
function isRequired(input: NodeInput): boolean {
  return input.optional !== true && input.default === undefined;
}

function anchorsLine(node: Sliced): string {
  const { inputs, outputs } = anchorsOf(node);
  const takes = inputs.slice(0, SLICE_LIMITS.anchors).map(({ name, types, optional, list }) => {
    const marks = `${list ? ' list' : ''}${optional ? ' optional' : ''}`;
    return `${clipped(name)} (${clipped(types.join('|'))}${marks})`;
  });
  const gives = outputs
    .slice(0, SLICE_LIMITS.anchors)
    .map(({ name, types }) => `${clipped(name)} (${clipped(types.join('|'))})`);
  return `anchors: in ${takes.join(', ') || 'none'}; out ${gives.join(', ') || 'none'}`;
}

function clipped(text: string, limit: number = NAME_LIMIT): string {
  if (isSecretShaped(text)) return REDACTED;
  const line = inertLine(text);
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}
