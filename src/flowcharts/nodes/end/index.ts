import type { NodeType } from '../node-type.ts';

/** Ends the run as soon as it is reached; the latest output before it is the output of the run. */
export const endNode: NodeType = {
  name: 'end',
  binds: { ref: 'none', mcp: false, attachments: false },
  normaliseConfig: (raw) => ({ config: { ...raw }, issues: [] }),
  inspector: [],
  execute: () => ({
    done: { output_state: { message: 'The run has ended here.' }, routing_state: { terminate_run: true } },
  }),
};
