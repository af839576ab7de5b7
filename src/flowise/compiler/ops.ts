import * as z from 'zod';

const nodeId = z.string().min(1).max(120);
const name = z.string().min(1).max(200);

/** Node ids hold no dash: Flowise splits its handles at dashes. */
const newNodeId = nodeId.regex(/^[A-Za-z0-9_]+$/, 'must be letters, digits and _, such as chatOpenAI_0');

export const AddNode = z.strictObject({
  op_type: z.literal('add_node'),
  node_name: name.describe('Node type, such as chatOpenAI'),
  node_id: newNodeId.describe('New id, by habit <node_name>_<index>'),
  label: z.string().max(200).optional().describe('Label on the canvas'),
  position: z
    .strictObject({ x: z.number(), y: z.number() })
    .optional()
    .describe('Where it stands; laid out when left out'),
  params: z.record(z.string(), z.unknown()).optional().describe('Values by parameter name'),
});

export const RemoveNode = z.strictObject({
  op_type: z.literal('remove_node'),
  node_id: nodeId.describe('The node to remove, with its connections'),
});

export const SetParam = z.strictObject({
  op_type: z.literal('set_param'),
  node_id: nodeId.describe('The node'),
  param_name: name.describe('Name of a parameter of that node'),
  value: z.unknown().describe('Its new value'),
});

export const SetLabel = z.strictObject({
  op_type: z.literal('set_label'),
  node_id: nodeId.describe('The node'),
  label: z.string().min(1).max(200).describe('Its new label'),
});

const connection = {
  source_node_id: nodeId.describe('Node that gives'),
  source_anchor: name.describe('Name of its output'),
  target_node_id: nodeId.describe('Node that receives'),
  target_anchor: name.describe('Name of its input'),
};

export const Connect = z.strictObject({ op_type: z.literal('connect'), ...connection });
export const Disconnect = z.strictObject({ op_type: z.literal('disconnect'), ...connection });

export const BindCredential = z.strictObject({
  op_type: z.literal('bind_credential'),
  node_id: nodeId.describe('The node'),
  credential_id: name.describe('Id of a stored credential'),
  credential_type: z.string().max(200).optional().describe('Its type, such as openAIApi, checked against the node'),
});

export const CreateTool = z.strictObject({
  op_type: z.literal('create_tool'),
  tool_ref: newNodeId.describe(
    'Word by which a customTool of this list names it: selectedTool = flowright:tool:<tool_ref>',
  ),
  name: z.string().min(1).max(200).describe('Name of the tool, for the model'),
  description: z.string().min(1).max(2_000).describe('When to use it, for the model'),
  schema: z
    .array(z.record(z.string(), z.unknown()))
    .max(50)
    .describe('Its arguments: property, type, description, required'),
  func: z.string().min(1).max(20_000).describe('JavaScript body; arguments are $name'),
  color: z.string().max(40).optional().describe('Colour on the canvas'),
});

export const PatchOp = z.discriminatedUnion('op_type', [
  AddNode,
  RemoveNode,
  SetParam,
  SetLabel,
  Connect,
  Disconnect,
  BindCredential,
  CreateTool,
]);
export type PatchOp = z.output<typeof PatchOp>;

export const MAX_OPS = 500;
export const PatchOps = z.array(PatchOp).max(MAX_OPS);
