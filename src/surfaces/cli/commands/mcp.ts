import type { Command } from 'commander';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';

export function register(program: Command, cli: Cli): void {
  descend(program, ['mcp'])
    .description('Serve MCP on standard input and output, as the local identity')
    .addHelpText('after', '\nExample (in an MCP client):\n  {"command": "npx", "args": ["flowright", "mcp"]}')
    .action(async () => {
      const { withApp } = await import('../local-call.ts');
      const { serveMcpStdio } = await import('../../mcp/stdio.ts');
      await withApp(cli, serveMcpStdio);
    });
}
