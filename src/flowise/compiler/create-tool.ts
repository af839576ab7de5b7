import { type Bench, refuse, warn } from './bench.ts';
import type { PatchOp } from './ops.ts';

type CreateTool = Extract<PatchOp, { op_type: 'create_tool' }>;
const ARGUMENT_TYPES = ['string', 'number', 'boolean', 'date'];
const USUAL_COLOUR = '#4f6bed';

/** Notes a tool to store before the flow: a customTool works only with the id of a stored one. */
export function createTool(bench: Bench, op: CreateTool, path: string): void {
  const before = bench.errors.length;
  if (bench.tools.some((tool) => tool.tool_ref === op.tool_ref)) {
    refuse(bench, 'tool_ref_taken', `${path}/tool_ref`, `Another create_tool has the tool_ref ${op.tool_ref} already.`);
  }
  if (!/^[A-Za-z0-9_-]+$/.test(op.name)) {
    warn(bench, 'tool_name_unusual', `${path}/name`, 'Models want tool names of letters, digits, _ and - only.');
  }
  const rows = op.schema.map((row, index) => argument(bench, row, index, `${path}/schema/${index}`));
  if (bench.errors.length > before) return;
  const tool = {
    name: op.name,
    description: op.description,
    color: op.color ?? USUAL_COLOUR,
    iconSrc: '',
    schema: JSON.stringify(rows),
    func: op.func,
  };
  bench.tools.push({ tool_ref: op.tool_ref, tool });
}

function argument(bench: Bench, row: Record<string, unknown>, index: number, path: string): Record<string, unknown> {
  const { property, type, description } = row;
  if (typeof property !== 'string' || !/^[A-Za-z_$][\w$]*$/.test(property)) {
    refuse(bench, 'tool_schema_invalid', `${path}/property`, 'An argument needs a property that is a plain name.');
  }
  if (typeof type !== 'string' || !ARGUMENT_TYPES.includes(type)) {
    const message = `The type of an argument must be one of ${ARGUMENT_TYPES.join(', ')}.`;
    refuse(bench, 'tool_schema_invalid', `${path}/type`, message);
  }
  if (description !== undefined && typeof description !== 'string') {
    refuse(bench, 'tool_schema_invalid', `${path}/description`, 'The description of an argument must be text.');
  }
  return { id: index, property, type, description: description ?? '', required: row.required === true };
}
