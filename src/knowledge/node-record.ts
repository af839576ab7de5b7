import * as z from 'zod';
import type { NodeInput, NodeSchema } from '../flowise/index.ts';
import { hideSecretsIn } from '../kernel/hide-secrets.ts';
import { pageOutput, traceOutput } from '../operations/index.ts';
import { anchorsOf } from './anchors.ts';
import { nodeParamsSlice } from './slices.ts';

const server = z.string().nullable().describe('The Flowise server that is meant; null when none is configured');

const Connection = z.strictObject({
  name: z.string().describe('What connect calls it: target_anchor of an input, source_anchor of an output'),
  label: z.string(),
  types: z.array(z.string()).describe('Classes that it takes or gives; two ends fit when they share one'),
});

const NodeParameter = z
  .strictObject({
    name: z.string().describe('What params of add_node and param_name of set_param call it'),
    label: z.string(),
    type: z.string().describe('string, number, boolean, options, json, code …'),
    required: z.boolean().describe('Neither optional nor given a value by the node itself'),
    default: z.unknown().optional().describe('The value that a new node has'),
    options: z.array(z.string()).describe('What may be chosen; empty where anything may be, or the server knows'),
    fields: z.array(z.string()).describe('Of a list: what one entry holds'),
    takes_variables: z.boolean().describe('May hold {{…}}, and be connected'),
    shown_when: z.string().nullable().describe('JSON: values of other parameters under which it counts'),
    description: z.string().nullable(),
  })
  .meta({ id: 'NodeParameter' });

const NodeRecord = z
  .strictObject({
    node_type: z.string().describe('node_name of add_node'),
    label: z.string(),
    category: z.string(),
    version: z.number(),
    description: z.string().nullable(),
    badge: z.string().nullable().describe('Such as DEPRECATING'),
    credential: z
      .strictObject({ types: z.array(z.string()).describe('Any one of these'), required: z.boolean() })
      .nullable()
      .describe('What bind_credential can give it; null when it takes none'),
    inputs: z.array(
      Connection.extend({ required: z.boolean(), list: z.boolean().describe('Takes more than one connection') }),
    ),
    outputs: z.array(Connection),
    params: z.array(NodeParameter),
  })
  .meta({ id: 'NodeRecord' });
export type NodeRecord = z.output<typeof NodeRecord>;

export const KnowledgeNodeResponse = z
  .strictObject({ ok: z.literal(true), server, node: NodeRecord, ...traceOutput })
  .meta({ id: 'KnowledgeNodeResponse' });
export type KnowledgeNodeResponse = z.output<typeof KnowledgeNodeResponse>;

export const KnowledgeNodesResponse = z
  .strictObject({
    ok: z.literal(true),
    server,
    ...pageOutput,
    items: z.array(NodeRecord.pick({ node_type: true, label: true, category: true, version: true, badge: true })),
    ...traceOutput,
  })
  .meta({ id: 'KnowledgeNodesResponse' });
export type KnowledgeNodesResponse = z.output<typeof KnowledgeNodesResponse>;

export function nodeItem({ node_type, label, category, version, badge = '' }: NodeSchema) {
  return { node_type, label, category, version, badge: badge === '' ? null : badge };
}

/** A node type as somebody needs it who writes operations. */
export function nodeRecord(node: NodeSchema): NodeRecord {
  const { inputs, outputs } = anchorsOf(node);
  const labels = new Map([...node.input_anchors, ...node.output_anchors].map(({ name, label }) => [name, label]));
  const labelOf = (name: string) => labels.get(name) ?? name;
  return {
    ...nodeItem(node),
    description: node.description ?? null,
    credential: node.credential
      ? { types: [...node.credential.credentialNames], required: node.credential_required !== null }
      : null,
    inputs: inputs.map(({ name, types, optional, list }) => ({
      name,
      label: labelOf(name),
      types,
      required: !optional,
      list,
    })),
    outputs: outputs.map(({ name, types }) => ({ name, label: labelOf(name), types })),
    params: node.input_params.filter(({ hidden }) => hidden !== true).map(parameter),
  };
}

function parameter(input: NodeInput): NodeRecord['params'][number] {
  const { name, label, type, optional, options, acceptVariable, show, description, array, datagrid } = input;
  const value = type === 'password' ? undefined : input.default;
  return {
    name,
    label,
    type,
    required: optional !== true && input.default === undefined,
    ...(value === undefined ? {} : { default: hideSecretsIn(value, { name }) }),
    options: namesIn(options),
    fields: namesIn(array ?? datagrid),
    takes_variables: acceptVariable === true,
    shown_when: show === undefined ? null : JSON.stringify(show),
    description: typeof description === 'string' ? description : null,
  };
}

/** Of options, which may be plain texts, of the fields of an entry, and of the columns of a grid. */
function namesIn(list: unknown): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    if (typeof entry === 'string') return [entry];
    const { name, field } = (entry ?? {}) as { name?: unknown; field?: unknown };
    return typeof name === 'string' ? [name] : typeof field === 'string' ? [field] : [];
  });
}

/** For a model that adds this node: the slice that its prompt would hold. */
export function nodeSlice({ node_type, category, inputs, outputs, params }: NodeRecord): string {
  const named = ({ name, label }: { name: string; label: string }) => ({ id: name, name, label });
  return nodeParamsSlice({
    node_type,
    category,
    input_params: params.map((param) => ({
      ...named(param),
      type: param.type,
      optional: !param.required,
      ...(param.default === undefined ? {} : { default: param.default }),
      options: param.options.map((name) => ({ name, label: name })),
    })),
    input_anchors: inputs.map((anchor) => ({
      ...named(anchor),
      type: anchor.types.join(' | '),
      optional: !anchor.required,
      list: anchor.list,
    })),
    output_anchors: outputs.map((anchor) => ({
      ...named(anchor),
      type: anchor.types.join(' | '),
      baseClasses: anchor.types,
    })),
  });
}
