import type { Command } from 'commander';
import { readJsonObject } from '../json-file.ts';
import { descend } from '../operation-command.ts';
import { operationNamed } from '../operation-named.ts';
import type { Cli } from '../run.ts';

interface Given {
  intent?: string;
  baseVersion?: string;
  baseStateId?: string;
  externalRef?: string;
  sourceVaultHint?: string;
  idempotencyKey?: string;
}

/** Commands that take a flow from a file. What they send is the operation's own input. */
export function register(program: Command, cli: Cli): void {
  descend(program, ['flow', 'mirror']).description('Notes that mirror flows: find, offer and undo edits of them');
  descend(program, ['flow', 'propose'])
    .argument('<file>', 'JSON with flow and steps; - for standard input')
    .description('Propose a new flow, or an edit of one, from a file')
    .option('--intent <text>', 'why (required here or in the file)')
    .option('--base-version <text>', 'version the edit is based on; left out for a new flow')
    .option('--base-state-id <text>', 'state id of that version, as `flow versions` shows it')
    .option('--external-ref <text>', 'pointer to where the wish comes from')
    .option('--idempotency-key <text>', 'your own key: sending it again gives the same proposal')
    .addHelpText(
      'after',
      '\nExamples:\n  flowright flow propose bundle.json --intent "First draft"\n  flowright flow propose bundle.json --intent "Clearer step 2" --base-version 1.0.0 --base-state-id flowst1_…',
    )
    .action(async (file: string, options: Given) => {
      const { schema: _, ...content } = readJsonObject(file);
      await cli.call(await operationNamed('flow.propose'), given(content, options));
    });
  descend(program, ['flow', 'import'])
    .argument('<file>', 'bundle that `flow export` wrote; - for standard input')
    .description('Propose a flow from a portable bundle')
    .option('--intent <text>', 'why (required here or in the file)')
    .option('--external-ref <text>', 'pointer to where the bundle comes from')
    .option('--source-vault-hint <text>', 'vault it was exported from; a label')
    .option('--idempotency-key <text>', 'your own key: sending it again gives the same proposal')
    .addHelpText('after', '\nExamples:\n  flowright flow import bundle.json --intent "Use it here too"')
    .action(async (file: string, options: Given) => {
      const input = readJsonObject(file);
      await cli.call(await operationNamed('flow.import'), given(input, options));
    });
  descend(program, ['flow', 'edit'])
    .argument('<flow_id>', 'flow to edit')
    .description('Edit a flow in your editor and propose the change')
    .option('--draft <file>', 'go on with a draft that was kept')
    .option('--intent <text>', 'why; else say it in the file')
    .addHelpText(
      'after',
      '\nExamples:\n  flowright flow edit flow_capture_to_note\n  EDITOR="code --wait" flowright flow edit flow_capture_to_note',
    )
    .action(async (flowId: string, options: { draft?: string; intent?: string }) => {
      const { editFlow } = await import('../flow-edit.ts');
      await editFlow(flowId, options, cli);
    });
}

/** Options where they are given, over what the file says. */
function given(content: Record<string, unknown>, options: Given): Record<string, unknown> {
  const over = {
    intent: options.intent,
    base_version: options.baseVersion,
    base_state_id: options.baseStateId,
    external_ref: options.externalRef,
    source_vault_hint: options.sourceVaultHint,
    idempotency_key: options.idempotencyKey,
  };
  return { ...content, ...Object.fromEntries(Object.entries(over).filter(([, value]) => value !== undefined)) };
}
