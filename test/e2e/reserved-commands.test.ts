import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/home.ts';
import { flowright } from '../support/program.ts';

const RESERVED = ['run'];

describe('[S002-3-cli-reserved] a reserved flow command says that it is gated', () => {
  it.each(RESERVED)('flow %s: one line on stderr, nothing on stdout, exit 1', async (command) => {
    const home = tempFolder();
    const { status, stdout, stderr } = await flowright(['flow', command], { home });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^error: \`flow ${command}\` is gated and not in this version\\..*\\n$`));
    expect(stderr).toContain('FLOW_COMMAND_RESERVED');
    expect(readdirSync(home), 'a refused command leaves no traces').toEqual([]);
  });

  it.each(RESERVED)('flow %s with arguments and options of its own', async (command) => {
    const args = ['flow', command, 'flow_capture_to_note', 'more', '--reason', 'because', '-x'];
    const { status, stderr } = await flowright(args, { home: tempFolder() });
    expect(status).toBe(1);
    expect(stderr).toContain(`\`flow ${command}\` is gated`);
  });

  it.each(RESERVED)('flow %s --json: the envelope on stderr', async (command) => {
    const args = ['flow', command, 'flow_capture_to_note', '--json', '--request-id', 'req-1'];
    const { status, stdout, stderr } = await flowright(args, { home: tempFolder() });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    const envelope = JSON.parse(stderr);
    expect(Object.keys(envelope)).toEqual(['error', 'code', 'message', 'details', 'request_id']);
    expect(envelope).toMatchObject({ code: 'FLOW_COMMAND_RESERVED', request_id: 'req-1', error: envelope.message });
  });

  it.each(RESERVED)('flow %s --help says the same rather than pretending to work', async (command) => {
    const { status, stderr } = await flowright(['flow', command, '--help'], { home: tempFolder() });
    expect(status).toBe(1);
    expect(stderr).toContain('gated');
  });
});
