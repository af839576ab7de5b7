import type { NodeType } from '../node-type.ts';

/** Where a run enters. What the run was started with is the first output. */
export const startNode: NodeType = {
  name: 'start',
  binds: { ref: 'none', mcp: false, attachments: false },
  normaliseConfig: (raw) => ({ config: { ...raw }, issues: [] }),
  inspector: [],
  execute: ({ run_input }) => ({
    done: { output_state: { message: 'The run has started.', input: run_input ?? null }, routing_state: {} },
  }),
};
