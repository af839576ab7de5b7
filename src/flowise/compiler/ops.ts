import * as z from 'zod';
import { type OpType, opTypeProblem } from './op-type.ts';

/** The kinds of fields, each of which names its operation when it holds something else; a missing one is told as such. */
function fieldsOf(op: OpType) {
  const mustBe = (what: string) => ({
    error: ({ code, input }: { code?: string; input?: unknown }) =>
      code === 'invalid_type' && input !== undefined ? `must be ${what}, not ${kindOf(input)} (${op})` : undefined,
  });
  const text = () => z.string(mustBe('text in quotes'));
  const nodeId = text().min(1).max(120);
  return {
    mustBe,
    text,
    nodeId,
    name: text().min(1).max(200),
    /** Node ids hold no dash: Flowise splits its handles at dashes. */
    newNodeId: nodeId.regex(/^[A-Za-z0-9_]+$/, 'must be letters, digits and _, such as chatOpenAI_0'),
  };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const adding = fieldsOf('add_node');
export const AddNode = z.strictObject({
  op_type: z.literal('add_node'),
  node_name: adding.name.describe('Node type, such as chatOpenAI'),
  node_id: adding.newNodeId.describe('New id, by habit <node_name>_<index>'),
  label: adding.text().max(200).optional().describe('Label on the canvas'),
  position: z
    .strictObject(
      { x: z.number(adding.mustBe('a number')), y: z.number(adding.mustBe('a number')) },
      adding.mustBe('an object with x and y'),
    )
    .optional()
    .describe('Where it stands; laid out when left out'),
  params: z
    .record(z.string(), z.unknown(), adding.mustBe('an object of values by parameter name'))
    .optional()
    .describe('Values by parameter name'),
});

const removing = fieldsOf('remove_node');
export const RemoveNode = z.strictObject({
  op_type: z.literal('remove_node'),
  node_id: removing.nodeId.describe('The node to remove, with its connections'),
});

const setting = fieldsOf('set_param');
export const SetParam = z.strictObject({
  op_type: z.literal('set_param'),
  node_id: setting.nodeId.describe('The node'),
  param_name: setting.name.describe('Name of a parameter of that node'),
  value: z.unknown().describe('Its new value'),
});

const labelling = fieldsOf('set_label');
export const SetLabel = z.strictObject({
  op_type: z.literal('set_label'),
  node_id: labelling.nodeId.describe('The node'),
  label: labelling.text().min(1).max(200).describe('Its new label'),
});

function connectionOf(op: OpType) {
  const { nodeId, name } = fieldsOf(op);
  return {
    source_node_id: nodeId.describe('Node that gives'),
    source_anchor: name.describe('Name of its output'),
    target_node_id: nodeId.describe('Node that receives'),
    target_anchor: name.describe('Name of its input'),
  };
}

export const Connect = z.strictObject({ op_type: z.literal('connect'), ...connectionOf('connect') });
export const Disconnect = z.strictObject({ op_type: z.literal('disconnect'), ...connectionOf('disconnect') });

const binding = fieldsOf('bind_credential');
export const BindCredential = z.strictObject({
  op_type: z.literal('bind_credential'),
  node_id: binding.nodeId.describe('The node'),
  credential_id: binding.name.describe('Id of a stored credential'),
  credential_type: binding.text().max(200).optional().describe('Its type, such as openAIApi, checked against the node'),
});

const tooling = fieldsOf('create_tool');
export const CreateTool = z.strictObject({
  op_type: z.literal('create_tool'),
  tool_ref: tooling.newNodeId.describe(
    'Word by which a customTool of this list names it: selectedTool = flowright:tool:<tool_ref>',
  ),
  name: tooling.text().min(1).max(200).describe('Name of the tool, for the model'),
  description: tooling.text().min(1).max(2_000).describe('When to use it, for the model'),
  schema: z
    .array(z.record(z.string(), z.unknown(), tooling.mustBe('an object')), tooling.mustBe('a list of objects'))
    .max(50)
    .describe('Its arguments: property, type, description, required'),
  func: tooling.text().min(1).max(20_000).describe('JavaScript body; arguments are $name'),
  color: tooling.text().max(40).optional().describe('Colour on the canvas'),
});

export const PatchOp = z.discriminatedUnion(
  'op_type',
  [AddNode, RemoveNode, SetParam, SetLabel, Connect, Disconnect, BindCredential, CreateTool],
  {
    error: ({ code, input }) => {
      if (code !== 'invalid_union') return 'must be an operation: an object such as {"op_type": "add_node", …}';
      return opTypeProblem((input as { op_type?: unknown }).op_type);
    },
  },
);
export type PatchOp = z.output<typeof PatchOp>;

export const MAX_OPS = 500;
export const PatchOps = z.array(PatchOp).max(MAX_OPS);
