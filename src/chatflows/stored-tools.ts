import type { FlowiseClient, NewTool } from '../flowise/index.ts';

/** Tools that a write needs on its server; those that it stored itself go again if nothing comes of it. */
export class StoredTools {
  readonly ids: Record<string, string> = {};
  /** Names of those that were not there yet. */
  readonly created: string[] = [];
  readonly #client: FlowiseClient;
  readonly #ours: string[] = [];

  constructor(client: FlowiseClient) {
    this.#client = client;
  }

  /** One of the same name, arguments and code is used again: a repeated attempt stores no second one. */
  async store(tools: readonly { tool_ref: string; tool: NewTool }[]): Promise<void> {
    if (tools.length === 0) return;
    const stored = await this.#client.listTools();
    for (const { tool_ref, tool } of tools) {
      const same = stored.find(
        ({ name, schema, func }) => name === tool.name && schema === tool.schema && func === tool.func,
      );
      const { id } = same ?? (await this.#client.createTool(tool));
      this.ids[tool_ref] = id;
      if (same) continue;
      this.created.push(tool.name);
      this.#ours.push(id);
    }
  }

  /** As well as it goes: what cannot be removed now is used again by the next attempt. */
  async remove(): Promise<void> {
    for (const id of this.#ours.splice(0)) await this.#client.deleteTool(id).catch(() => false);
  }
}
