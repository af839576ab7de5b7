import { type AnyOperation, Catalogue, type Part } from './operations/index.ts';

type Loaded = Promise<{ operations: readonly AnyOperation[] }>;

/** Every operation of the program, by room. Code loads when one of its commands or routes is used. */
export function createCatalogue(): Catalogue {
  return new Catalogue([
    {
      namespaces: [{ name: 'flow', summary: 'Procedures with steps and proof-of-done' }],
      reserved: ['flow run'],
      parts: [
        part(() => import('./flows/operations.ts'), ['list', 'get', 'search']),
        part(() => import('./projection/operations.ts'), ['project']),
        part(() => import('./diff/operations.ts'), ['versions', 'diff']),
        part(() => import('./authoring/operations.ts'), ['propose', 'import', 'export', 'retire', 'edit', 'mirror']),
      ],
    },
    {
      namespaces: [{ name: 'proposal', summary: 'Changes that wait for review' }],
      parts: [
        part(
          () => import('./proposals/operations.ts'),
          ['create', 'list', 'get', 'evaluate', 'approve', 'discard', 'withdraw', 'comment'],
        ),
        part(() => import('./authoring/proposal-diff-operation.ts'), ['diff']),
      ],
    },
    {
      namespaces: [{ name: 'note', summary: 'Notes of the vault, on disk' }],
      parts: [part(() => import('./vault/operations.ts'))],
    },
    {
      namespaces: [{ name: 'policy', summary: 'What this hub allows' }],
      parts: [part(() => import('./policy/operations.ts'))],
    },
    {
      namespaces: [{ name: 'flowchart', summary: 'Graphs of nodes that people and models walk together' }],
      parts: [
        part(
          () => import('./flowcharts/graph/operations.ts'),
          [
            'list',
            'get',
            'create',
            'update',
            'delete',
            'graph',
            'save',
            'validate',
            'versions',
            'diff',
            'import',
            'export',
            'node-types',
          ],
        ),
        part(() => import('./flowcharts/runtime/run-operations.ts'), ['run', 'runtime']),
      ],
    },
    {
      namespaces: [{ name: 'run', summary: 'Runs of flowcharts: watch, steer, replay, compare' }],
      parts: [
        part(
          () => import('./flowcharts/runtime/control-operations.ts'),
          ['control', 'cancel', 'pause', 'resume', 'retry', 'skip', 'rewind'],
        ),
        part(
          () => import('./flowcharts/history/operations.ts'),
          ['list', 'show', 'status', 'nodes', 'node', 'trace', 'compare', 'watch', 'events'],
        ),
      ],
    },
    {
      namespaces: [{ name: 'task', summary: 'What runs ask of people' }],
      parts: [part(() => import('./flowcharts/tasks/operations.ts'))],
    },
    {
      namespaces: [{ name: 'memory', summary: 'What flowcharts remember' }],
      parts: [part(() => import('./memories/operations.ts'))],
    },
    {
      namespaces: [{ name: 'plan', summary: 'Plans with stages and tasks' }],
      parts: [part(() => import('./plans/operations.ts'))],
    },
    {
      namespaces: [{ name: 'milestone', summary: 'Milestones and how far they are' }],
      parts: [part(() => import('./milestones/operations.ts'))],
    },
    {
      namespaces: [{ name: 'attachment', summary: 'Files that nodes work with' }],
      parts: [part(() => import('./attachments/operations.ts'))],
    },
    {
      namespaces: [{ name: 'artifact', summary: 'What node runs left behind' }],
      parts: [part(() => import('./artifacts/operations.ts'))],
    },
    {
      namespaces: [{ name: 'server', summary: 'Flowise servers that this vault works with' }],
      parts: [part(() => import('./flowise/servers/operations.ts'))],
    },
    {
      namespaces: [{ name: 'knowledge', summary: 'What is known of Flowise nodes, templates and credentials' }],
      parts: [part(() => import('./knowledge/operations.ts'))],
    },
    {
      namespaces: [{ name: 'chatflow', summary: 'Chatflows on Flowise: history, diff, restore, promote' }],
      parts: [part(() => import('./chatflows/operations.ts'))],
    },
    {
      namespaces: [{ name: 'patch', summary: 'Changes to a chatflow, tried without writing' }],
      parts: [part(() => import('./chatflows/patch-operations.ts'))],
    },
    {
      namespaces: [
        { name: 'whoami', summary: 'Who you are here' },
        { name: 'vault', summary: 'Vaults, each with its own flows and members' },
        { name: 'user', summary: 'Users of this hub' },
        { name: 'member', summary: 'Members of a vault and their roles' },
        { name: 'token', summary: 'Bearer tokens for programs and other machines' },
      ],
      parts: [part(() => import('./identity/operations.ts'))],
    },
    {
      namespaces: [{ name: 'audit', summary: 'The log of what was done and refused' }],
      parts: [part(() => import('./audit/operations.ts'))],
    },
    {
      namespaces: [{ name: 'health', summary: '' }],
      parts: [part(() => import('./health/operations.ts'))],
    },
  ]);
}

function part(load: () => Loaded, commands?: readonly string[]): Part {
  return { load: async () => (await load()).operations, ...(commands ? { commands } : {}) };
}
