/** The one MCP server that nodes can be bound to: this program's own. Memory nodes always are. */
export const SYSTEM_MCP = { id: 1, server_key: 'llmctl-mcp' } as const;
