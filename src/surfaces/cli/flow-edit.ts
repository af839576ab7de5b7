import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import {
  assertAuthoringOpen,
  basedOn,
  type EditedFlow,
  editDocument,
  readEditDocument,
} from '../../authoring/index.ts';
import type { FlowBundle } from '../../flows/index.ts';
import { asFlowrightError, ERRORS, FlowrightError, refusal } from '../../kernel/errors.ts';
import { inertLine } from '../../kernel/terminal.ts';
import { messageLines } from './message-lines.ts';
import { operationNamed } from './operation-named.ts';
import type { Cli } from './run.ts';

interface Base {
  bundle: FlowBundle;
  version: string;
  stateId: string;
}

/**
 * Opens a flow in the person's editor and proposes what comes back, based on what was read. A draft that is refused is
 * kept, so that no work is lost; otherwise nothing is left behind.
 */
export async function editFlow(flowId: string, options: { draft?: string; intent?: string }, cli: Cli): Promise<void> {
  await assertOpen(cli);
  const draft = options.draft === undefined ? undefined : readDraft(options.draft);
  const base = await readBase(flowId, cli);
  const untouched = editDocument(base.bundle);
  const folder = mkdtempSync(join(tmpdir(), 'flowright-edit-'));
  const file = join(folder, `${flowId}.yaml`);
  let text = draft ?? untouched;
  writeFileSync(file, text, { mode: 0o600 });
  const discard = () => rmSync(folder, { recursive: true, force: true });
  for (;;) {
    try {
      openEditor(file, cli.environment);
      text = readFileSync(file, 'utf8');
    } catch (error) {
      // Some editors end with an error on purpose, to give up; what was saved before is still somebody's work.
      if (readFileSync(file, 'utf8') !== untouched) throw kept(error, flowId, file);
      discard();
      throw error;
    }
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
      assertStillBased(text, base);
      await propose(edited, base, options.intent, cli);
      discard();
      return;
    } catch (error) {
      if (!isMendable(error) || !canAsk(cli)) throw kept(error, flowId, file);
      for (const line of messageLines(asFlowrightError(error))) cli.tell(line);
      if (!(await wantsAnotherTry())) throw kept(refusal(asFlowrightError(error).code, ''), flowId, file);
    }
  }
}

/** Asked before the editor opens, so that nobody writes for nothing. */
async function assertOpen(cli: Cli): Promise<void> {
  const { policies } = JSON.parse(await cli.ask(await operationNamed('policy.show'), {})) as {
    policies: { key: string; value: unknown }[];
  };
  const values = Object.fromEntries(policies.map(({ key, value }) => [key, value]));
  assertAuthoringOpen({
    flow_authoring_forbidden: values.flow_authoring_forbidden === true,
    flow_authoring_writes_enabled: values.flow_authoring_writes_enabled === true,
  });
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

/** A draft that was kept is based on what was read then; on anything newer it would undo what came in between. */
function assertStillBased(text: string, base: Base): void {
  const version = basedOn(text);
  if (version === null || version === base.version) return;
  const { flow_id } = base.bundle.flow;
  throw refusal(
    'FLOW_LINEAGE_CONFLICT',
    `The draft is based on ${version}, and the flow is at ${base.version} now. \`flowright flow diff ${flow_id} --from ${version}\` shows what came in between: take it over into the draft, write \`# ${flow_id} ${base.version}\` in its first line and raise its version.`,
    { current_version: base.version, current_state_id: base.stateId },
  );
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
    const { code } = error as NodeJS.ErrnoException;
    throw refusal('USAGE_ERROR', `${file} cannot be read (${code}). Name the draft that a refused edit left.`);
  }
}

function openEditor(file: string, environment: NodeJS.ProcessEnv): void {
  const editor = environment.VISUAL || environment.EDITOR || 'vi';
  // A shell, because EDITOR may hold arguments; the file is passed apart, so that its name is never read as words.
  const { status, signal, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'edit', file], { stdio: 'inherit' });
  if (status !== 0) {
    throw refusal(
      'EDITOR_FAILED',
      `The editor \`${inertLine(editor)}\` ended with ${error?.message ?? signal ?? status}. ${ERRORS.EDITOR_FAILED.next}`,
    );
  }
}

/** The refusal itself, and where the work lies. */
function kept(thrown: unknown, flowId: string, file: string): FlowrightError {
  const { code, message, details } = asFlowrightError(thrown);
  const way = `Your draft is kept: go on with \`flowright flow edit ${flowId} --draft ${file}\`.`;
  return new FlowrightError(code, `${message} Nothing was proposed. ${way}`.trim(), {
    details: { ...details, draft: file },
    cause: (thrown as Error).cause,
  });
}

/** What another look at the file can mend. */
function isMendable(error: unknown): boolean {
  const code = error instanceof FlowrightError ? error.code : undefined;
  return code === 'FLOW_DRAFT_INVALID' || code === 'FLOW_AUTHORING_POLICY_FORBIDDEN' || code === 'FLOW_SCOPE_DENIED';
}

function canAsk(cli: Cli): boolean {
  return process.stdin.isTTY === true && !cli.options().json;
}

async function wantsAnotherTry(): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D are a no.
  const answer = await terminal.question('Edit again? [Y/n] ').catch(() => {
    process.stderr.write('\n');
    return 'n';
  });
  terminal.close();
  return !/^n/i.test(answer.trim());
}
