import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectFlow } from '../../src/projection/index.ts';
import { importFlows } from '../security/library.ts';
import { tokenFor } from '../security/people.ts';
import { sampleFlow } from '../support/flows.ts';
import { makeFolder, tempFolder } from '../support/home.ts';
import { type Finished, type Hub, MAIN, type ProgramOptions, programEnv, startHub } from '../support/program.ts';

const { folder: home, remove } = makeFolder();
const program: ProgramOptions = { home };
const FLOW = 'flow_release_notes';
const flowOf = (version: string, instruction = 'Write them.') => sampleFlow(FLOW, { version, instruction });
const textOf = (harness: 'cursor_rule' | 'cursor_skill' | 'cli_runbook' | 'mcp_prompt', bundle = flowOf('1.0.0')) =>
  projectFlow(bundle.flow, bundle.steps, harness).rendered;
let hub: Hub;
let overHub: Record<string, string>;

beforeAll(async () => {
  await importFlows(program, [flowOf('1.0.0'), sampleFlow('flow_a__b')]);
  hub = await startHub(program);
  const token = await tokenFor(program, 'local', { role: 'admin' });
  overHub = { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token };
});
afterAll(async () => {
  await hub?.stop();
  remove();
});

/** Runs the command in a folder, as one does in a repository. */
function run(
  cwd: string,
  args: string[],
  options: { flow?: string; env?: Record<string, string>; home?: string } = {},
) {
  const words = ['flow', 'project', options.flow ?? FLOW, ...args];
  return new Promise<Finished>((finish, fail) => {
    const env = programEnv({ home: options.home ?? home, ...(options.env ? { env: options.env } : {}) });
    const child = spawn(process.execPath, [MAIN, ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output.stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      output.stderr += chunk;
    });
    child.once('error', fail);
    child.once('close', (status) => finish({ status, ...output }));
  });
}

const DOORS: [string, () => Record<string, string>][] = [
  ['locally', () => ({})],
  ['over a hub', () => overHub],
];

describe.each(DOORS)('[FLR-projection-command] flow project %s', (_where, env) => {
  it.each(['cursor_rule', 'cursor_skill', 'cli_runbook', 'mcp_prompt'] as const)(
    'prints the very bytes of a %s into a pipe, and what it leaves out beside them',
    async (harness) => {
      const folder = tempFolder();
      const { status, stdout, stderr } = await run(folder, ['--harness', harness], { env: env() });
      expect({ status, stdout }).toEqual({ status: 0, stdout: textOf(harness) });
      if (harness === 'cursor_rule') expect(stderr).toMatch(/^left out: when_not_to_run\nnote: .*\n$/);
      else expect(stderr).toBe('');
      expect(readdirSync(folder), 'nothing is written').toEqual([]);
    },
  );

  it('--json prints the payload', async () => {
    const { stdout } = await run(tempFolder(), ['--harness', 'cli_runbook', '--json'], { env: env() });
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'knowtation.flow_project/v0',
      projection: { rendered: textOf('cli_runbook') },
    });
  });

  it('--out writes the file with its folders, whole, and again', async () => {
    const folder = tempFolder();
    const path = '.cursor/rules/release-notes.mdc';
    for (const round of [1, 2]) {
      const written = await run(folder, ['--harness', 'cursor_rule', '--out', path], { env: env() });
      expect(written, `round ${round}`).toMatchObject({ status: 0, stderr: '' });
      expect(written.stdout).toMatch(new RegExp(`^written to ${path}\nleft out: when_not_to_run\nnote: .*\n$`));
    }
    expect(readFileSync(join(folder, path), 'utf8')).toBe(textOf('cursor_rule'));
    expect(readdirSync(join(folder, '.cursor/rules')), 'no leftovers').toEqual(['release-notes.mdc']);
  });

  it('--check is clean after --out, at the place where each harness looks', async () => {
    const places = {
      cursor_rule: '.cursor/rules/release-notes.mdc',
      cursor_skill: '.cursor/skills/release-notes/SKILL.md',
      cli_runbook: 'AGENTS.md',
    };
    const folder = tempFolder();
    for (const [harness, path] of Object.entries(places)) {
      await run(folder, ['--harness', harness, '--out', path], { env: env() });
      const { status, stdout } = await run(folder, ['--harness', harness, '--check'], { env: env() });
      expect({ status, stdout }).toEqual({ status: 0, stdout: `${path} is what version 1.0.0 renders to\n` });
    }
  });

  it('--check finds a change and ends with 1, without touching the file', async () => {
    const folder = tempFolder();
    const edited = `${textOf('cli_runbook')}\nOur own words.\n`;
    writeFileSync(join(folder, 'AGENTS.md'), edited);
    const { status, stdout } = await run(folder, ['--harness', 'cli_runbook', '--check'], { env: env() });
    expect(status).toBe(1);
    expect(stdout).toContain('changed by hand');
    expect(stdout).toContain(`flowright flow project ${FLOW} --harness cli_runbook --out AGENTS.md`);
    expect(readFileSync(join(folder, 'AGENTS.md'), 'utf8')).toBe(edited);
    expect(readdirSync(folder)).toEqual(['AGENTS.md']);
  });

  it.each([
    [[], 'BAD_REQUEST'],
    [['--harness', 'emacs'], 'BAD_REQUEST'],
    [['--harness', 'agent_bundle', '--version', 'x'], 'FLOW_HARNESS_UNSUPPORTED'],
    [['--harness', 'cli_runbook', '--version', 'x'], 'BAD_REQUEST'],
    [['--harness', 'cli_runbook', '--version', '9.0.0'], 'unknown_flow'],
    [['--harness', 'cli_runbook', '--version', '9.0.0', '--check'], 'unknown_flow'],
    [['--harness', 'cli_runbook', '--version', '9.0.0', '--out', 'x.md'], 'unknown_flow'],
  ])('%j is refused as the hub refuses it: %s', async (args, code) => {
    const folder = tempFolder();
    const { status, stdout, stderr } = await run(folder, [...args, '--json'], { env: env() });
    expect({ status, stdout, code: JSON.parse(stderr).code }).toEqual({ status: 1, stdout: '', code });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('[FLR-projection-command] --out', () => {
  const write = (folder: string, ...more: string[]) =>
    run(folder, ['--harness', 'cli_runbook', '--out', 'AGENTS.md', ...more]);

  it('leaves a file alone that was not generated, unless it is forced', async () => {
    const folder = tempFolder();
    const file = join(folder, 'AGENTS.md');
    writeFileSync(file, '# Written by hand\n\nGENERATED FROM CANONICAL FLOW, they say\n');
    const { status, stdout, stderr } = await write(folder);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/AGENTS\.md was not generated from a flow.*--force.*\(CONFLICT\)\n$/s);
    expect(readFileSync(file, 'utf8')).toContain('Written by hand');
    expect((await write(folder, '--force')).status).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(textOf('cli_runbook'));
  });

  it('replaces an empty file, an edited one and one of another flow or harness', async () => {
    const folder = tempFolder();
    const file = join(folder, 'AGENTS.md');
    for (const before of ['', `${textOf('cli_runbook')}x`, textOf('cursor_rule', sampleFlow('flow_other'))]) {
      writeFileSync(file, before);
      expect((await write(folder)).status).toBe(0);
      expect(readFileSync(file, 'utf8')).toBe(textOf('cli_runbook'));
    }
  });

  it('follows a link to the file it stands for, and guards that one', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'real.md'), textOf('cli_runbook', flowOf('0.9.0')));
    symlinkSync('real.md', join(folder, 'AGENTS.md'));
    expect((await write(folder)).status).toBe(0);
    expect(lstatSync(join(folder, 'AGENTS.md')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'real.md'), 'utf8')).toBe(textOf('cli_runbook'));
    writeFileSync(join(folder, 'real.md'), 'precious');
    expect((await write(folder)).status).toBe(1);
    expect(readFileSync(join(folder, 'real.md'), 'utf8')).toBe('precious');
  });

  it('keeps the rights of a file', async () => {
    const folder = tempFolder();
    const file = join(folder, 'AGENTS.md');
    await write(folder);
    chmodSync(file, 0o600);
    await write(folder);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('says what is in the way', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'AGENTS.md'));
    writeFileSync(join(folder, 'file'), '');
    for (const path of ['AGENTS.md', 'file/below.md']) {
      const { status, stderr } = await run(folder, ['--harness', 'cli_runbook', '--out', path]);
      expect(status).toBe(1);
      expect(stderr).toMatch(/Cannot (read|write) .*\((EISDIR|ENOTDIR)\)/);
    }
    expect(readdirSync(join(folder, 'AGENTS.md'))).toEqual([]);
  });

  it('with --json prints the payload', async () => {
    const folder = tempFolder();
    const { stdout } = await write(folder, '--json');
    expect(JSON.parse(stdout).projection.rendered).toBe(readFileSync(join(folder, 'AGENTS.md'), 'utf8'));
  });
});

describe('[FLR-projection-command] [FLR-projection-drift] --check', () => {
  const check = async (folder: string, ...more: string[]) => {
    const { status, stdout } = await run(folder, ['--harness', 'cli_runbook', '--check', '--json', ...more]);
    return { status, verdict: JSON.parse(stdout) };
  };

  it.each([
    ['absent', null],
    ['absent', ''],
    ['missing_marker', '# By hand\n'],
    ['edited', textOf('cli_runbook').replace('Write them.', 'Skip them.')],
    ['clean', textOf('cli_runbook')],
    ['clean', textOf('cli_runbook').replaceAll('\n', '\r\n')],
  ])('tells %s', async (reason, text) => {
    const folder = tempFolder();
    if (text !== null) writeFileSync(join(folder, 'AGENTS.md'), text);
    const { status, verdict } = await check(folder);
    expect(Object.keys(verdict)).toEqual(['check', 'drift', 'stale', 'staleness', 'generator']);
    expect(verdict).toMatchObject({
      check: true,
      drift: { drift: reason !== 'clean', reason },
      stale: false,
      staleness: { stale: false, projection_version: '1.0.0', latest_version: '1.0.0' },
      generator: { generator_version: '1', content_hash: expect.stringMatching(/^sha256:/) },
    });
    expect(status).toBe(reason === 'clean' ? 0 : 1);
    expect(existsSync(join(folder, 'AGENTS.md'))).toBe(text !== null);
  });

  it('a newer version makes a file stale, not edited; a rewritten one is fresh', async () => {
    const own = tempFolder();
    const folder = tempFolder();
    await importFlows({ home: own }, [flowOf('1.0.0')]);
    const there = { home: own };
    await run(folder, ['--harness', 'cli_runbook', '--out', 'AGENTS.md'], there);
    await importFlows({ home: own }, [flowOf('1.1.0', 'Write them well.')]);
    const verdict = async (...more: string[]) => {
      const args = ['--harness', 'cli_runbook', '--check', '--json', ...more];
      const { status, stdout } = await run(folder, args, there);
      const { drift, stale, staleness } = JSON.parse(stdout);
      return {
        status,
        reason: drift.reason,
        stale,
        from: staleness.projection_version,
        latest: staleness.latest_version,
      };
    };
    expect(await verdict()).toEqual({ status: 1, reason: 'clean', stale: true, from: '1.0.0', latest: '1.1.0' });
    expect(await verdict('--version', '1.1.0')).toMatchObject({ status: 1, reason: 'edited', stale: true });
    const { stdout } = await run(folder, ['--harness', 'cli_runbook', '--check'], there);
    expect(stdout).toMatch(/stale, the latest version is 1\.1\.0\nto mend it: /);
    await run(folder, ['--harness', 'cli_runbook', '--out', 'AGENTS.md'], there);
    expect(await verdict()).toEqual({ status: 0, reason: 'clean', stale: false, from: '1.1.0', latest: '1.1.0' });
    const pinned = await run(folder, ['--harness', 'cli_runbook', '--version', '1.0.0'], there);
    expect(pinned.stdout).toBe(textOf('cli_runbook'));
    expect(pinned.stderr).toContain('the latest version is 1.1.0');
  });

  it('an older generator makes a file stale', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'AGENTS.md'), textOf('cli_runbook').replace('(generator v1)', '(generator v0)'));
    expect(await check(folder)).toMatchObject({ status: 1, verdict: { stale: true, drift: { drift: false } } });
  });

  it('a version that was never there is judged by the latest', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'AGENTS.md'), textOf('cli_runbook', flowOf('0.5.0', 'Older.')));
    expect(await check(folder)).toMatchObject({ status: 1, verdict: { stale: true, drift: { reason: 'edited' } } });
  });

  it('looks at the file that --out names and never writes it', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'AGENTS.md'), textOf('cli_runbook'));
    expect(await check(folder, '--out', 'other.md', '--force')).toMatchObject({
      status: 1,
      verdict: { drift: { reason: 'absent' } },
    });
    expect(readdirSync(folder)).toEqual(['AGENTS.md']);
  });

  it('of a prompt needs to be told the file', async () => {
    const { status, stderr } = await run(tempFolder(), ['--harness', 'mcp_prompt', '--check']);
    expect(status).toBe(1);
    expect(stderr).toMatch(/mcp_prompt has no file of its own.*--out.*USAGE_ERROR/);
  });
});

it('[FLR-projection-names] a flow whose id makes no legal name is no skill, and is told so', async () => {
  const { status, stderr } = await run(tempFolder(), ['--harness', 'cursor_skill'], { flow: 'flow_a__b' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/flow_a__b cannot be an Agent Skill.*two in a row.*FLOW_HARNESS_UNSUPPORTED/);
  expect((await run(tempFolder(), ['--harness', 'cursor_rule'], { flow: 'flow_a__b' })).status).toBe(0);
});

it('help names the options and shows examples', async () => {
  const { status, stdout } = await run(tempFolder(), ['--help']);
  expect(status).toBe(0);
  for (const option of ['--harness', '--version', '--out', '--check', '--force']) expect(stdout).toContain(option);
  expect(stdout).toContain('Examples:\n  flowright flow project');
});
