import type { Tool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { AnyOperation } from '../../operations/index.ts';

/** A tool of the MCP door: an operation and how it is announced, which is worked out when somebody first asks. */
export interface OperationTool {
  operation: AnyOperation;
  announcement(): Tool;
}

/** `vault_id` is context, not input: the door takes it out before the operation sees the arguments. */
const VAULT_ARGUMENT = { type: 'string', description: 'Vault to act in; your own when left out' };

export function operationTools(operations: readonly AnyOperation[]): Map<string, OperationTool> {
  const tools = new Map<string, OperationTool>();
  for (const operation of operations) {
    if (!operation.mcp) continue;
    const name = operation.mcp.tool;
    let announced: Tool | undefined;
    tools.set(name, {
      operation,
      announcement: () => {
        announced ??= announce(name, operation);
        return announced;
      },
    });
  }
  return tools;
}

function announce(name: string, operation: AnyOperation): Tool {
  const input = z.toJSONSchema(operation.documentedInput ?? operation.input, { io: 'input' }) as Tool['inputSchema'];
  return {
    name,
    title: operation.summary,
    description: operation.description ?? operation.summary,
    inputSchema: { ...input, properties: { ...input.properties, vault_id: VAULT_ARGUMENT } },
    outputSchema: rooted(z.toJSONSchema(operation.output, { reused: 'ref' })),
    annotations: {
      readOnlyHint: operation.effect === 'read',
      destructiveHint: operation.effect === 'destructive',
      idempotentHint: operation.effect === 'read',
      openWorldHint: operation.reaches === 'elsewhere',
    },
  };
}

/** A named schema comes as a reference to itself; MCP wants the object at the root. */
function rooted(schema: z.core.JSONSchema.JSONSchema): NonNullable<Tool['outputSchema']> {
  const { $ref, $defs = {}, ...rest } = schema;
  const name = $ref?.startsWith('#/$defs/') ? $ref.slice('#/$defs/'.length) : '';
  const { [name]: own, ...others } = $defs;
  return { ...rest, ...own, ...(Object.keys(others).length > 0 ? { $defs: others } : {}) } as NonNullable<
    Tool['outputSchema']
  >;
}
