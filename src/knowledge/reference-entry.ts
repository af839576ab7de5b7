import * as z from 'zod';
import {
  CARRIED_NODE_FIELDS,
  type CredentialDefinition,
  type NodeInput,
  type NodeOutput,
  type NodeSchema,
} from '../flowise/index.ts';
import { stableStringify } from '../kernel/canonical-json.ts';
import type { Issue } from '../kernel/errors.ts';
import { issuesOf } from '../operations/index.ts';
import type { Said } from './reference-sections.ts';

const words = z.array(z.string());
const Input = z.looseObject({
  id: z.string().optional(),
  name: z.string().min(1),
  label: z.string(),
  type: z.string().min(1),
  optional: z.boolean().optional(),
  list: z.boolean().optional(),
  acceptVariable: z.boolean().optional(),
  loadMethod: z.string().optional(),
  options: z.array(z.looseObject({ label: z.string(), name: z.string() })).optional(),
});
const Output = z.looseObject({
  id: z.string().optional(),
  name: z.string().min(1),
  label: z.string(),
  type: z.string().optional(),
  baseClasses: words,
  description: z.string().optional(),
  isAnchor: z.boolean().optional(),
});
const Credential = z.looseObject({ label: z.string(), name: z.string(), type: z.string(), credentialNames: words });

/** Strict, so that a misspelt key is told instead of lost. */
const Block = z.strictObject({
  node_type: z.string().min(1).optional(),
  label: z.string().optional(),
  category: z.string().optional(),
  version: z.number(),
  type: z.string(),
  description: z.string().optional(),
  baseClasses: words,
  credential_required: z.string().nullable().optional(),
  credential: Credential.optional(),
  badge: z.string().optional(),
  deprecateMessage: z.string().optional(),
  tags: words.optional(),
  color: z.string().optional(),
  hideInput: z.boolean().optional(),
  hideOutput: z.boolean().optional(),
  hint: z.unknown().optional(),
  warning: z.string().optional(),
  author: z.string().optional(),
  documentation: z.string().optional(),
  baseURL: z.string().optional(),
  own_defaults: words.optional(),
  anchors: z.array(Input).optional(),
  params: z.array(Input).optional(),
  outputs: z.array(Output).optional(),
  has_output_choice: z.boolean().optional(),
});
type Block = z.infer<typeof Block>;

const COPIED = [...CARRIED_NODE_FIELDS, 'own_defaults'] as const;

/** The block of a node: everything but what the headings say and what can be derived. */
export function blockOf(node: NodeSchema, said: Said): Record<string, unknown> {
  const block: Record<string, unknown> = {};
  for (const key of ['node_type', 'label', 'category'] as const) if (node[key] !== said[key]) block[key] = node[key];
  block.version = node.version;
  block.type = node.type;
  if (node.description !== undefined) block.description = node.description;
  block.baseClasses = node.baseClasses;
  if (node.credential_required !== requiredCredential(node.credential)) {
    block.credential_required = node.credential_required;
  }
  if (node.credential) block.credential = node.credential;
  for (const key of COPIED) if (node[key] !== undefined) block[key] = node[key];
  if (node.input_anchors.length > 0) block.anchors = node.input_anchors.map(withoutId);
  if (node.input_params.length > 0) block.params = node.input_params.map(withoutId);
  const isOwnOutput = stableStringify(node.output_anchors) === stableStringify([ownOutput(node)]);
  if (!isOwnOutput || node.has_output_choice) block.outputs = node.output_anchors.map(shortOutput);
  if (node.has_output_choice !== (block.outputs !== undefined)) block.has_output_choice = node.has_output_choice;
  return block;
}

/** The node that a block and its headings describe, or what is wrong with it. */
export function completeEntry(raw: unknown, said: Said): { node?: NodeSchema; problems: Issue[] } {
  const parsed = Block.safeParse(raw);
  if (!parsed.success) return { problems: issuesOf(parsed.error) };
  const place = notJson(raw, '');
  if (place !== undefined) {
    return { problems: [{ code: 'not_json', message: 'must be a value that JSON can hold', path: place }] };
  }
  // The raw one: a parsed copy has its keys in another order, and files should not change by being read.
  const block = raw as Block;
  const node_type = block.node_type ?? said.node_type;
  const label = block.label ?? said.label;
  const category = block.category ?? said.category;
  if (category === '') {
    const message = 'stands under no category. Put a heading such as ## Tools above it';
    return { problems: [{ code: 'no_category', message, path: '' }] };
  }
  return { node: complete(block, { node_type, label, category }), problems: [] };
}

function complete(block: Block, said: Said): NodeSchema {
  const { version, type, description, baseClasses } = block;
  const credential = block.credential as CredentialDefinition | undefined;
  const copied: Record<string, unknown> = {};
  for (const key of COPIED) if (block[key] !== undefined) copied[key] = block[key];
  const outputs = block.outputs?.map(longOutput);
  return {
    ...said,
    version,
    ...(description === undefined ? {} : { description }),
    credential_required:
      block.credential_required === undefined ? requiredCredential(credential) : block.credential_required,
    ...(credential === undefined ? {} : { credential }),
    type,
    baseClasses,
    ...copied,
    input_anchors: (block.anchors ?? []).map(withId),
    input_params: (block.params ?? []).map(withId),
    output_anchors: outputs ?? [ownOutput({ node_type: said.node_type, type, baseClasses })],
    has_output_choice: block.has_output_choice ?? outputs !== undefined,
  };
}

function requiredCredential(credential: CredentialDefinition | undefined): string | null {
  if (!credential || credential.optional === true) return null;
  return credential.credentialNames[0] ?? null;
}

/** What a node has that lists no outputs: one, named after itself. */
function ownOutput({
  node_type,
  type,
  baseClasses,
}: Pick<NodeSchema, 'node_type' | 'type' | 'baseClasses'>): NodeOutput {
  return { id: node_type, name: node_type, label: type, type: baseClasses.join(' | '), baseClasses };
}

function withoutId({ id, ...input }: NodeInput): Record<string, unknown> {
  return id === input.name ? input : { id, ...input };
}

function withId(input: z.infer<typeof Input>): NodeInput {
  const { id, ...rest } = input;
  return { id: id ?? input.name, ...rest } as NodeInput;
}

function shortOutput({ id, type, ...output }: NodeOutput): Record<string, unknown> {
  return {
    ...(id === output.name ? {} : { id }),
    ...(type === output.baseClasses.join(' | ') ? {} : { type }),
    ...output,
  };
}

function longOutput({ id, type, ...output }: z.infer<typeof Output>): NodeOutput {
  const { name, label, ...rest } = output;
  return { id: id ?? name, name, label, type: type ?? output.baseClasses.join(' | '), ...rest } as NodeOutput;
}

/** Where something stands that YAML has and JSON has not, such as .nan. */
function notJson(value: unknown, path: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value !== 'object' || value instanceof Date) return path;
  for (const [key, member] of Object.entries(value)) {
    const place = notJson(member, `${path}/${key}`);
    if (place !== undefined) return place;
  }
  return undefined;
}
