import type { Command } from 'commander';
import type { Cli } from './run.ts';

/** Commands that concern this machine rather than an operation: servers, files, set-up. */
export interface LocalCommand {
  name: string;
  summary: string;
  /** Second words, where the namespace has other commands too. */
  words?: readonly string[];
  load(): Promise<{ register(program: Command, cli: Cli): void }>;
}

export const LOCAL_COMMANDS: readonly LocalCommand[] = [
  { name: 'hub', summary: 'Run the hub in the foreground', load: () => import('./commands/hub.ts') },
  { name: 'mcp', summary: 'Serve MCP on standard input and output', load: () => import('./commands/mcp.ts') },
  { name: 'init', summary: 'Make the data folder ready', load: () => import('./commands/init.ts') },
  { name: 'signin', summary: 'Print a new sign-in link', load: () => import('./commands/signin.ts') },
  {
    name: 'doctor',
    summary: 'Check this installation and say what to mend',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'config',
    summary: 'Show the settings and where each comes from',
    load: () => import('./commands/config.ts'),
  },
  { name: 'db', summary: 'Database schema: status and migration', load: () => import('./commands/db.ts') },
  { name: 'backup', summary: 'Write a copy of the embedded database', load: () => import('./commands/backup.ts') },
  { name: 'restore', summary: 'Put a backup in place', load: () => import('./commands/backup.ts') },
  { name: 'openapi', summary: 'Write the OpenAPI document', load: () => import('./commands/openapi.ts') },
  { name: 'flow', summary: '', words: ['store'], load: () => import('./commands/flow-store.ts') },
  {
    name: 'flow',
    summary: '',
    words: ['propose', 'import', 'edit'],
    load: () => import('./commands/flow-authoring.ts'),
  },
  { name: 'flow', summary: '', words: ['project'], load: () => import('./commands/flow-project.ts') },
  { name: 'note', summary: '', words: ['put'], load: () => import('./commands/note-put.ts') },
  { name: 'note', summary: '', words: ['propose'], load: () => import('./commands/note-propose.ts') },
  {
    name: 'flowchart',
    summary: '',
    words: ['save', 'validate', 'import', 'export'],
    load: () => import('./commands/flowchart-files.ts'),
  },
  {
    name: 'attachment',
    summary: '',
    words: ['upload', 'file'],
    load: () => import('./commands/attachment-files.ts'),
  },
  { name: 'flowchart', summary: '', words: ['run'], load: () => import('./commands/flowchart-run.ts') },
  {
    name: 'demo',
    summary: 'Run the example flowcharts and look on',
    load: () => import('./commands/demo.ts'),
  },
  { name: 'patch', summary: '', words: ['compile'], load: () => import('./commands/chatflow-change.ts') },
  {
    name: 'chatflow',
    summary: '',
    words: ['apply', 'validate', 'export'],
    load: () => import('./commands/chatflow-change.ts'),
  },
  { name: 'knowledge', summary: '', words: ['refresh'], load: () => import('./commands/knowledge-refresh.ts') },
  { name: 'run', summary: '', words: ['watch'], load: () => import('./commands/run-watch.ts') },
  { name: 'server', summary: '', words: ['add'], load: () => import('./commands/server-add.ts') },
];

/** Those that a command line may mean: all of a namespace while nothing, or nothing known, follows it. */
export function localCommands(namespace: string, command: string | undefined): LocalCommand[] {
  const here = LOCAL_COMMANDS.filter(({ name }) => name === namespace);
  if (command === undefined) return here;
  return here.filter(({ words }) => words === undefined || words.includes(command));
}
