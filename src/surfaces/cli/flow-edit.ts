import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type EditedFlow, editDocument, readEditDocument } from '../../authoring/index.ts';
import type { FlowBundle } from '../../flows/index.ts';
import { FlowrightError, type Issue, refusal } from '../../kernel/errors.ts';
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
  const folder = mkdtempSync(join(tmpdir(), 'flowright-edit-'));
  const file = join(folder, `${flowId}.yaml`);
  const untouched = editDocument(base.bundle);
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
      await propose(edited, base, options.intent, cli);
      discard();
      return;
    } catch (error) {
      tellRefusal(error, cli);
      if (!isMendable(error) || !(await wantsAnotherTry(cli))) {
        throw refusal(
          'EDITOR_FAILED',
          `Nothing was proposed. Your draft is kept: go on with \`flowright flow edit ${flowId} --draft ${file}\`.`,
        );
      }
    }
  }
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

async function propose(edited: EditedFlow, base: Base, intent: string | undefined, cli: Cli): Promise<void> {
  await cli.call(await operationNamed('flow.propose'), {
    flow: edited.flow,
    steps: edited.steps,
    intent: intent ?? edited.intent,
    base_version: base.version,
    base_state_id: base.stateId,
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
      `The editor \`${inertLine(editor)}\` ended with ${error?.message ?? status}. Set EDITOR and try again.`,
    );
  }
}

/** What another look at the file can mend. */
function isMendable(error: unknown): boolean {
  const code = error instanceof FlowrightError ? error.code : undefined;
  return code === 'FLOW_DRAFT_INVALID' || code === 'FLOW_AUTHORING_POLICY_FORBIDDEN' || code === 'FLOW_SCOPE_DENIED';
}

function tellRefusal(error: unknown, cli: Cli): void {
  cli.tell(inertLine((error as Error).message));
  const issues = error instanceof FlowrightError ? error.details.errors : undefined;
  if (Array.isArray(issues))
    for (const { path, message } of issues as Issue[]) cli.tell(inertLine(`  ${path} ${message}`));
}

async function wantsAnotherTry(cli: Cli): Promise<boolean> {
  if (!process.stdin.isTTY || cli.options().json) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('Edit again? [Y/n] ');
  terminal.close();
  return !/^n/i.test(answer.trim());
}
