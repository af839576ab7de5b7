import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/home.ts';
import { flowright } from '../support/program.ts';

const run = (...args: string[]) => flowright(args, { home: tempFolder() });

const NAMESPACES =
  'audit backup config db doctor flow hub init mcp member note openapi policy proposal restore signin token user vault whoami'.split(
    ' ',
  );
const GLOBAL = ['--json', '--vault', '--hub', '--home', '--request-id', '--yes'];

describe('help', () => {
  it('of the program lists every namespace with a sentence, and the options that every command takes', async () => {
    const { status, stdout, stderr } = await run('--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const name of NAMESPACES) expect(stdout).toMatch(new RegExp(`^ {2}${name} +\\S+ \\S+`, 'm'));
    for (const option of GLOBAL) expect(stdout).toContain(option);
  });

  it('of a namespace lists its commands, reserved ones marked', async () => {
    const { status, stdout } = await run('flow', '--help');
    expect(status).toBe(0);
    const commands = 'diff edit export get import list mirror project propose retire search store versions'.split(' ');
    for (const command of commands) expect(stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'));
    expect(stdout.match(/^ {2}\S+ +reserved/gm)).toEqual([expect.stringMatching(/^ {2}run /)]);
  });

  it('of a command has the options of its input schema and examples', async () => {
    const { status, stdout } = await run('flow', 'list', '--help');
    expect(status).toBe(0);
    expect(stdout).toContain('--scope <personal|project|org>');
    expect(stdout).toMatch(/--tag <text> +Only flows with this tag/);
    expect(stdout).toMatch(/--limit <number> +How many at most/);
    expect(stdout).toContain('Examples:\n  flowright flow list\n');
  });

  it('of a command that needs something says what', async () => {
    const get = (await run('flow', 'get', '--help')).stdout;
    expect(get).toMatch(/Usage: .*flow get .*<flow_id>/);
    expect(get).toMatch(/^ {2}flow_id +\S/m);
    expect((await run('token', 'create', '--help')).stdout).toMatch(/--user <text> .*\(required\)/s);
  });

  it('of a command also names the options that every command takes, --json first of all', async () => {
    const { stdout } = await run('flow', 'list', '--help');
    const options = stdout.slice(0, stdout.indexOf('Examples:'));
    for (const option of GLOBAL) expect(options).toContain(option);
  });

  it.each([[[]], [['flow']], [['token']]])('is shown when the command is left out: %j', async (args) => {
    const { stdout, stderr } = await run(...args);
    expect(stdout + stderr).toContain(`Usage: ${['flowright', ...args].join(' ')}`);
    expect(stdout + stderr).toContain('Commands:');
  });

  it.each([
    [['flw', 'list'], 'Did you mean flow?'],
    [['flow', 'lst'], 'Did you mean list?'],
    [['flow', 'list', '--scop', 'personal'], 'Did you mean --scope?'],
    [['token', 'creat'], 'Did you mean create?'],
    [['proposal', 'aprove', 'x'], 'Did you mean approve?'],
    [['policy', 'get'], 'Did you mean set?'],
  ])('%j is refused with the nearest name', async (args, hint) => {
    const { status, stdout, stderr } = await run(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(hint);
    expect(stderr).toContain('USAGE_ERROR');
    expect(stderr).toContain('--help');
  });

  it('an option’s value before the command is not taken for the command', async () => {
    const { status, stdout } = await run('--vault', 'default', 'flow', 'list', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout).vault_id).toBe('default');
  });
});
