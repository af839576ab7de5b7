import {
  type ApiNode,
  CARRIED_NODE_FIELDS,
  type CredentialDefinition,
  type NodeInput,
  type NodeOutput,
  type NodeSchema,
  PARAM_TYPES,
} from '../flowise/index.ts';

/**
 * The only path from a definition as Flowise sends it to an entry of the node snapshot. What the canvas or the compiler
 * reads is kept under Flowise's own names; server paths and empty shells of functions are dropped.
 */
export function normaliseNode(api: ApiNode): NodeSchema {
  const inputs = records(api.inputs).map(nodeInput);
  const credential = api.credential as CredentialDefinition | undefined;
  const outputs = api.hideOutput === true ? [] : records(api.outputs);
  return {
    node_type: api.name,
    label: text(api.label) ?? api.name,
    category: text(api.category) ?? '',
    version: versionNumber(api.version),
    ...kept(api, 'description'),
    credential_required: requiredCredential(credential),
    ...(credential ? { credential } : {}),
    type: text(api.type) ?? api.name,
    baseClasses: words(api.baseClasses),
    ...kept(api, ...CARRIED_NODE_FIELDS),
    input_anchors: inputs.filter((input) => !PARAM_TYPES.has(input.type)),
    input_params: inputs.filter((input) => PARAM_TYPES.has(input.type)),
    output_anchors: outputs.length > 0 ? outputs.map(nodeOutput) : ownOutput(api),
    has_output_choice: outputs.length > 0,
  };
}

function kept<K extends 'description' | (typeof CARRIED_NODE_FIELDS)[number]>(api: ApiNode, ...fields: K[]) {
  const present = fields.filter((field) => api[field] !== undefined && api[field] !== null);
  return Object.fromEntries(present.map((field) => [field, api[field]])) as Pick<NodeSchema, K>;
}

function nodeInput(input: Record<string, unknown>): NodeInput {
  const { name, label, type, ...others } = input;
  const known = { name: text(name) ?? '', label: text(label) ?? text(name) ?? '', type: text(type) ?? 'string' };
  const settled = 'default' in others ? { ...others, default: typedDefault(known.type, others.default) } : others;
  return { id: known.name, ...known, ...settled };
}

/**
 * A default in the type of its input: servers send some numbers, flags and lists as text. Several choices, grids and JSON
 * are text on the canvas too, so these stay as they are.
 */
function typedDefault(type: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const trimmed = value.trim();
  switch (type) {
    case 'number':
      return trimmed !== '' && Number.isFinite(Number(trimmed)) ? Number(trimmed) : value;
    case 'boolean':
      return /^(true|false)$/i.test(trimmed) ? trimmed.toLowerCase() === 'true' : value;
    case 'array':
      return parsedList(trimmed) ?? value;
    default:
      return value;
  }
}

function parsedList(value: string): unknown[] | undefined {
  if (!value.startsWith('[')) return undefined;
  try {
    return JSON.parse(value) as unknown[];
  } catch {
    return undefined;
  }
}

function nodeOutput(output: Record<string, unknown>): NodeOutput {
  const { name, label, baseClasses, type: _, ...others } = output;
  const classes = words(baseClasses);
  const id = text(name) ?? '';
  return { id, name: id, label: text(label) ?? id, type: classes.join(' | '), baseClasses: classes, ...others };
}

/** A node that lists no outputs has one: itself. */
function ownOutput(api: ApiNode): NodeOutput[] {
  if (api.hideOutput === true) return [];
  const baseClasses = words(api.baseClasses);
  const label = text(api.type) ?? api.name;
  return [{ id: api.name, name: api.name, label, type: baseClasses.join(' | '), baseClasses }];
}

function requiredCredential(credential: CredentialDefinition | undefined): string | null {
  if (!credential || credential.optional === true) return null;
  return words(credential.credentialNames)[0] ?? null;
}

/** A definition without a version is its first. */
function versionNumber(version: unknown): number {
  const number = Number(version);
  return Number.isFinite(number) && number > 0 ? number : 1;
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((entry) => entry !== null && typeof entry === 'object') : [];
}

function words(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string') : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
