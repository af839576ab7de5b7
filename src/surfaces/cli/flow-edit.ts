import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type EditedFlow, editDocument, readEditDocument } from '../../authoring/index.ts';
import type { FlowBundle } from '../../flows/index.ts';
import { asFlowrightError, ERRORS, FlowrightError, type Issue, refusal } from '../../kernel/errors.ts';
import { inertLine } from '../../kernel/terminal.ts';
import { operationNamed } from './operation-named.ts';
import type { Cli } from './run.ts';

interface Base {
  bundle: FlowBundle;
  version: string;
  stateId: string;
}

/**
 * Opens a flow in the person's editor and proposes what comes back, based on what was read. A draft that is refused is
 * kept, so that no work is lost.
 */
export async function editFlow(flowId: string, options: { draft?: string; intent?: string }, cli: Cli): Promise<void> {
  const base = await readBase(flowId, cli);
  await assertOpen(cli);
  const folder = mkdtempSync(join(tmpdir(), 'flowright-edit-'));
  const file = join(folder, `${flowId}.yaml`);
  const untouched = editDocument(base.bundle, { version: base.version, state_id: base.stateId });
  writeFileSync(file, options.draft === undefined ? untouched : readDraft(options.draft), { mode: 0o600 });
  const discard = () => rmSync(folder, { recursive: true, force: true });
  for (;;) {
    openEditor(file, cli.environment);
    const text = readFileSync(file, 'utf8');
    if (text === untouched) {
      discard();
      cli.tell('Nothing was changed; nothing is proposed.');
      return;
    }
    try {
      const edited = readEditDocument(text, base.bundle, new Date().toISOString());
      if (edited === null) {
        discard();
        cli.tell('The file is empty; nothing is proposed.');
        return;
      }
      await propose(edited, options.intent, cli);
      discard();
      return;
    } catch (error) {
      tellIssues(error, cli);
      if (isMendable(error) && (await wantsAnotherTry(error, cli))) continue;
      throw withDraft(error, flowId, file);
    }
  }
}

/** The refusal itself, and where the work is. A stale draft is carried over by a person, who sees what else changed. */
function withDraft(error: unknown, flowId: string, file: string): FlowrightError {
  const { code, message, details } = asFlowrightError(error);
  const kept = `Your draft is kept: \`flowright flow edit ${flowId} --draft ${file}\`.`;
  const rebase =
    code === 'FLOW_LINEAGE_CONFLICT' && details.current_version
      ? ` See \`flowright flow versions ${flowId}\` and \`flowright flow diff ${flowId}\` for what changed, take it over into the draft, and set its based_on to version ${details.current_version} and state_id ${details.current_state_id}.`
      : '';
  return refusal(code, `${message} ${kept}${rebase}`, details);
}

/** Before somebody spends an hour on it. The hub decides all the same when it is proposed. */
async function assertOpen(cli: Cli): Promise<void> {
  const { policies } = JSON.parse(await cli.ask(await operationNamed('policy.show'), {})) as {
    policies: { key: string; value: unknown }[];
  };
  const isOpen = policies.find(({ key }) => key === 'flow_authoring_writes_enabled')?.value === true;
  if (!isOpen)
    throw refusal(
      'FLOW_AUTHORING_DISABLED',
      `Authoring flows is switched off on this hub. ${ERRORS.FLOW_AUTHORING_DISABLED.next}`,
    );
}

async function readBase(flowId: string, cli: Cli): Promise<Base> {
  const { flow, steps } = JSON.parse(
    await cli.ask(await operationNamed('flow.get'), { flow_id: flowId }),
  ) as FlowBundle;
  const { versions } = JSON.parse(await cli.ask(await operationNamed('flow.versions'), { flow_id: flowId })) as {
    versions: { version: string; state_id: string }[];
  };
  const mine = versions.find(({ version }) => version === flow.version);
  if (!mine) throw refusal('FLOW_LINEAGE_CONFLICT', 'The flow changed while it was read. Try again.');
  return { bundle: { flow, steps }, version: mine.version, stateId: mine.state_id };
}

async function propose(edited: EditedFlow, intent: string | undefined, cli: Cli): Promise<void> {
  await cli.call(await operationNamed('flow.propose'), {
    flow: edited.flow,
    steps: edited.steps,
    intent: intent ?? edited.intent,
    base_version: edited.based_on.version,
    base_state_id: edited.based_on.state_id,
  });
}

function readDraft(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw refusal('USAGE_ERROR', `${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function openEditor(file: string, environment: NodeJS.ProcessEnv): void {
  const editor = environment.VISUAL || environment.EDITOR || 'vi';
  // A shell, because EDITOR may hold arguments; the file is passed apart, so that its name is never read as words.
  const { status, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'edit', file], { stdio: 'inherit' });
  if (status !== 0) {
    throw refusal(
      'EDITOR_FAILED',
      `The editor \`${inertLine(editor)}\` ended with ${error?.message ?? status}. Your draft is kept as ${file}. Set EDITOR and try again.`,
    );
  }
}

/** What another look at the file can mend. */
function isMendable(error: unknown): boolean {
  const code = error instanceof FlowrightError ? error.code : undefined;
  return code === 'FLOW_DRAFT_INVALID' || code === 'FLOW_AUTHORING_POLICY_FORBIDDEN' || code === 'FLOW_SCOPE_DENIED';
}

function tellIssues(error: unknown, cli: Cli): void {
  const issues = error instanceof FlowrightError ? error.details.errors : undefined;
  if (Array.isArray(issues))
    for (const { path, message } of issues as Issue[]) cli.tell(inertLine(`  ${path} ${message}`));
}

async function wantsAnotherTry(error: unknown, cli: Cli): Promise<boolean> {
  if (!process.stdin.isTTY || cli.options().json) return false;
  cli.tell(inertLine((error as Error).message));
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('Edit again? [Y/n] ');
  terminal.close();
  return !/^n/i.test(answer.trim());
}
