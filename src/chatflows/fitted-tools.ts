import { type ApiTool, type FlowData, type FlowiseClient, type NewTool, toolPlaceholder } from '../flowise/index.ts';
import type { Fitted } from './fitted-credentials.ts';

/** A custom tool is stored beside the flow: the same one is used there, else it is stored there first. */
export async function fitTools(
  from: FlowiseClient,
  to: FlowiseClient,
  flow: FlowData,
): Promise<Fitted & { created: { tool_ref: string; tool: NewTool }[] }> {
  const used = flow.nodes.filter(({ data }) => data?.name === 'customTool' && isText(data.inputs?.selectedTool));
  if (used.length === 0) return { flow, notes: [], created: [] };
  const [here, there] = [await from.listTools(), await to.listTools()];
  const ids = new Map<string, string>();
  const created: { tool_ref: string; tool: NewTool }[] = [];
  const others: string[] = [];
  for (const id of new Set(used.map(({ data }) => String(data.inputs.selectedTool)))) {
    const tool = here.find((candidate) => candidate.id === id);
    if (!tool) continue;
    const namesakes = there.filter(({ name }) => name === tool.name);
    // A name is no proof: the code is what will run.
    const known = namesakes.find(({ schema, func }) => schema === tool.schema && func === tool.func);
    if (known) ids.set(id, known.id);
    else {
      if (namesakes.length > 0) others.push(tool.name);
      const tool_ref = `tool_${created.length}`;
      created.push({ tool_ref, tool: bareTool(tool) });
      ids.set(id, toolPlaceholder(tool_ref));
    }
  }
  const nodes = flow.nodes.map((node) => {
    const id = ids.get(String(node.data?.inputs?.selectedTool ?? ''));
    if (id === undefined || node.data.name !== 'customTool') return node;
    return { ...node, data: { ...node.data, inputs: { ...node.data.inputs, selectedTool: id } } };
  });
  return {
    flow: { ...flow, nodes },
    notes: [
      ...created.map(({ tool }) => `Tool "${tool.name}" is stored there too.`),
      ...others.map((name) => `Another tool "${name}" with other code is there; it is left alone.`),
    ],
    created,
  };
}

function bareTool({ name, description, color, iconSrc, schema, func }: ApiTool): NewTool {
  return { name, description, color, ...(iconSrc ? { iconSrc } : {}), schema, func };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
