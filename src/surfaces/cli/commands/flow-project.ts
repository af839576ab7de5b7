import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { FlowrightError, refusal } from '../../../kernel/errors.ts';
import { inert, inertLine } from '../../../kernel/terminal.ts';
import type { FlowProjectResult, Harness } from '../../../projection/index.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';

interface ProjectOptions {
  harness?: string;
  version?: string;
  out?: string;
  check?: boolean;
  force?: boolean;
}

const EXAMPLES = `
Examples:
  flowright flow project flow_capture_to_note --harness cli_runbook
  flowright flow project flow_capture_to_note --harness cursor_rule --out .cursor/rules/capture-to-note.mdc
  flowright flow project flow_capture_to_note --harness cursor_skill > SKILL.md
  flowright flow project flow_capture_to_note --harness cursor_rule --check`;

/** Rendering is an operation; writing the text to a file, and comparing it with one, concern this machine. */
export function register(program: Command, cli: Cli): void {
  descend(program, ['flow', 'project'])
    .description('Render a flow as a rule, a skill, a runbook or a prompt')
    .argument('<flow_id>', 'Stable id of a flow')
    .addOption(new Option('--harness <cursor_rule|cursor_skill|cli_runbook|mcp_prompt>', 'Format (required)'))
    .addOption(new Option('--version <text>', 'A version to pin; the latest when left out'))
    .addOption(new Option('--out <file>', 'write the text to this file'))
    .addOption(new Option('--check', 'write nothing; end with 1 when the file is not what the flow renders to now'))
    .addOption(new Option('--force', 'let --out replace a file that was not generated'))
    .addHelpText('after', EXAMPLES)
    .action((flowId: string, options: ProjectOptions) =>
      options.check ? check(flowId, options, cli) : project(flowId, options, cli),
    );
}

async function project(flowId: string, options: ProjectOptions, cli: Cli): Promise<void> {
  const answer = await ask(flowId, options, cli);
  const { rendered } = answer.payload.projection;
  if (options.out !== undefined) await write(options.out, rendered, options.force === true);
  if (cli.options().json) {
    cli.print(answer.json);
  } else if (options.out !== undefined) {
    for (const line of [`written to ${options.out}`, ...losses(answer.payload)]) cli.print(inertLine(line));
  } else {
    // A file or a pipe gets the very bytes: print puts the last line break back, and what else is to say goes beside it.
    cli.print(process.stdout.isTTY ? inert(rendered.trimEnd()) : rendered.replace(/\n$/, ''));
    for (const line of losses(answer.payload)) cli.tell(inertLine(line));
  }
}

async function write(path: string, rendered: string, isForced: boolean): Promise<void> {
  const { readMarker } = await import('../../../projection/index.ts');
  const { readIfThere, replaceFile } = await import('../generated-file.ts');
  const file = resolve(path);
  const present = readIfThere(file);
  if (present !== null && present.trim() !== '' && !isForced && !readMarker(present)) {
    throw refusal(
      'CONFLICT',
      `${path} was not generated from a flow, so it is left as it is. Name another file with --out, or add --force to replace it.`,
    );
  }
  replaceFile(file, rendered);
}

/**
 * A file is judged against the version it names, so that a change of the flow is not taken for an edit of the file; that
 * there is a newer version, or a newer generator, makes it stale.
 */
async function check(flowId: string, options: ProjectOptions, cli: Cli): Promise<void> {
  const { defaultArtifactPath, detectDrift, isProjectionStale, readMarker } = await import(
    '../../../projection/index.ts'
  );
  const { readIfThere } = await import('../generated-file.ts');
  const { payload: wanted } = await ask(flowId, options, cli);
  const path = options.out ?? defaultArtifactPath(options.harness as Harness, flowId);
  if (path === null) throw refusal('USAGE_ERROR', `${options.harness} has no file of its own: name one with --out.`);
  const onDisk = readIfThere(resolve(path));
  const marker = onDisk === null ? null : readMarker(onDisk);
  const own = marker?.flow_id === flowId ? marker : null;
  const pinned = options.version ?? own?.version;
  const fresh = pinned === wanted.projection.flow_version ? wanted : await ofVersion(wanted, pinned, options, cli);
  const drift = detectDrift({ onDisk, fresh: fresh.projection.rendered });
  const projection_version = own?.version ?? fresh.projection.flow_version;
  const { latest_version } = wanted.staleness;
  const isOldGenerator = own !== null && own.generator_version !== wanted.generator.generator_version;
  const stale = isProjectionStale(projection_version, latest_version) || isOldGenerator;
  const staleness = { stale, projection_version, latest_version };
  if (drift.drift || stale) process.exitCode = 1;
  if (cli.options().json) {
    cli.print(JSON.stringify({ check: true, drift, stale, staleness, generator: fresh.generator }));
    return;
  }
  const again = `flowright flow project ${flowId} --harness ${options.harness} --out ${path}`;
  cli.print(inertLine(verdict(path, drift.reason, staleness)));
  if (drift.drift || stale) cli.print(inertLine(`to mend it: ${again}`));
}

function verdict(path: string, reason: string, staleness: FlowProjectResult['staleness']): string {
  const { stale, projection_version, latest_version } = staleness;
  const judged: Record<string, string> = {
    absent: `${path} is not there`,
    missing_marker: `${path} was not generated from a flow`,
    edited: `${path} was changed by hand: it is not what version ${projection_version} renders to`,
    clean: `${path} is what version ${projection_version} renders to`,
  };
  return `${judged[reason]}${stale ? `; it is stale, the latest version is ${latest_version}` : ''}`;
}

/** The rendering of a version that the file names; a version that is no longer there is judged by the wanted one. */
async function ofVersion(
  wanted: FlowProjectResult,
  version: string | undefined,
  options: ProjectOptions,
  cli: Cli,
): Promise<FlowProjectResult> {
  if (version === undefined) return wanted;
  try {
    return (await ask(wanted.projection.flow_id, { ...options, version }, cli)).payload;
  } catch (thrown) {
    if (thrown instanceof FlowrightError && thrown.code === 'unknown_flow') return wanted;
    throw thrown;
  }
}

async function ask(
  flowId: string,
  { harness, version }: ProjectOptions,
  cli: Cli,
): Promise<{ json: string; payload: FlowProjectResult }> {
  const { projectOperation } = await import('../../../projection/index.ts');
  const input: Record<string, unknown> = { flow_id: flowId };
  if (harness !== undefined) input.harness = harness;
  if (version !== undefined) input.version = version;
  const json = await cli.ask(projectOperation, input);
  return { json, payload: JSON.parse(json) as FlowProjectResult };
}

/** What the text does not hold, and whether there is a newer one. */
function losses({ projection, staleness }: FlowProjectResult): string[] {
  const { dropped_fields, notes } = projection.fidelity;
  return [
    ...(dropped_fields.length > 0 ? [`left out: ${dropped_fields.join(', ')}`] : []),
    ...(notes ? [`note: ${notes}`] : []),
    ...(staleness.stale ? [`note: the latest version is ${staleness.latest_version}`] : []),
  ];
}
