import type { Command } from 'commander';
import { inert } from '../../../kernel/terminal.ts';
import { type KnowledgeRefreshResponse, REFRESH_PARTS, refreshOperation } from '../../../knowledge/index.ts';
import { addOperationCommand, descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';

/**
 * The operation's own command, with two things that only a terminal has: help when nothing is chosen, and progress. There
 * the parts are asked for one after the other; everywhere else it is one call, with one answer.
 */
export function register(program: Command, cli: Cli): void {
  const operation = { ...refreshOperation, cli: { ...refreshOperation.cli, byHand: undefined } };
  const call = (_operation: unknown, input: Record<string, unknown>) => refresh(program, cli, input);
  addOperationCommand(program, operation as unknown as Parameters<typeof addOperationCommand>[1], { ...cli, call });
}

async function refresh(program: Command, cli: Cli, input: Record<string, unknown>): Promise<void> {
  const chosen = REFRESH_PARTS.filter(
    (part) => input[part] === true || (input.all === true && !part.startsWith('workday')),
  );
  if (chosen.length === 0) descend(program, ['knowledge', 'refresh']).help({ error: true });
  if (cli.options().json || !process.stderr.isTTY || chosen.length === 0) {
    const json = await cli.ask(refreshOperation, input);
    finish(cli, JSON.parse(json) as KnowledgeRefreshResponse, json);
    return;
  }
  for (const part of chosen) {
    const { from_api, from_reference, write_reference, dry_run, validate, server } = input;
    const nodesOnly = part === 'nodes' ? { from_api, from_reference, write_reference } : {};
    const wanted = Object.entries({ [part]: true, ...nodesOnly, dry_run, validate, server });
    const started = Date.now();
    cli.tell(`${part}: ${validate ? 'checking' : 'refreshing'} …`);
    const json = await cli.ask(refreshOperation, Object.fromEntries(wanted.filter(([, value]) => value !== undefined)));
    cli.tell(`${part}: done in ${Date.now() - started} ms`);
    finish(cli, JSON.parse(json) as KnowledgeRefreshResponse, json);
  }
}

/** The worst of what was seen stays. */
function finish(cli: Cli, payload: KnowledgeRefreshResponse, json: string): void {
  cli.print(cli.options().json ? json : inert(refreshOperation.cli?.render(payload) as string));
  const worst = Math.max(Number(process.exitCode ?? 0), payload.exit_code);
  if (worst > 0) process.exitCode = worst;
}
