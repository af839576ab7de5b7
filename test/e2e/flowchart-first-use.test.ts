import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { tempFolder } from '../support/home.ts';
import { flowright, flowrightJson, MAIN, programEnv, ROOT } from '../support/program.ts';
import { HAS_TMUX, openTerminal } from '../support/terminal.ts';

const EXAMPLE = join(ROOT, 'examples/flowcharts/release-checklist.json');
const DOCUMENTED = /```json\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/flowcharts.md'), 'utf8'))?.[1] ?? '';
const WAITS = /Approve the release waits for a person/g;

describe('somebody who uses flowcharts for the first time', () => {
  let home: string;

  beforeEach(async () => {
    home = tempFolder();
    await flowrightJson(['init'], { home });
  });

  const chartOf = async (graph: string): Promise<string> => {
    const { flowchart } = await flowrightJson<{ flowchart: { id: number } }>(['flowchart', 'create', 'Mine'], { home });
    const file = join(home, 'graph.json');
    writeFileSync(file, graph);
    expect((await flowright(['flowchart', 'save', String(flowchart.id), file], { home })).stdout).toContain(
      'it can run',
    );
    return String(flowchart.id);
  };
  const onlyTask = async (): Promise<string> => {
    const { items } = await flowrightJson<{ items: { task_id: number }[] }>(['task', 'list'], { home });
    expect(items).toHaveLength(1);
    return String(items[0]?.task_id);
  };

  it('sees the demo run the examples of the program, not a newer flowchart of that name', async () => {
    await flowright(['flowchart', 'import', EXAMPLE], { home });
    const { status, stdout, stderr } = await flowright(['demo'], { home });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('flowright run show 2, flowright flowchart get 2\n');
    expect(stdout.match(WAITS)).toHaveLength(1);
    expect(stdout).toContain('Answered with yes, because nobody is at the terminal to be asked.');
    expect(stdout).not.toContain('left as it is');
    expect((await flowright(['demo', '--yes'], { home })).stdout).toContain('Answered with yes, as --yes says.');
  });

  it('is told once what a run waits for, how to answer and how to watch on', async () => {
    const { status, stdout, stderr } = await flowright(['flowchart', 'run', '2'], { home });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.match(WAITS)).toHaveLength(1);
    expect(stdout).toContain(`answer with: flowright task answer ${await onlyTask()} --answer …\n`);
    expect(stdout).toContain('Watch it with: flowright run watch 1\n');
    expect(stdout).not.toContain('left as it is');
  });

  it('can save and run the graph of the manual as it stands there', async () => {
    const chart = await chartOf(DOCUMENTED);
    expect((await flowright(['flowchart', 'run', chart], { home })).stdout).toContain('Allow it waits for a person');
    await flowright(['task', 'answer', await onlyTask(), '--answer', 'Yes, buy it'], { home });
    expect((await flowright(['run', 'show', '1'], { home })).stdout).toMatch(/^run 1 of Mine .*: completed\n/);
    const cheap = await chartOf(DOCUMENTED.replace('120', '80'));
    expect((await flowright(['flowchart', 'run', cheap], { home })).stdout).toContain('run 2: completed');
  });

  it('reads of the option that is missing, and of the field where a program reads', async () => {
    await flowright(['flowchart', 'run', '2'], { home });
    const task = await onlyTask();
    const { status, stderr } = await flowright(['task', 'answer', task], { home });
    expect(status).toBe(1);
    expect(stderr).toContain('--answer is missing. Add --help');
    expect((await flowright(['task', 'answer', '0', '--answer', 'x'], { home })).stderr).toContain('<task_id> must be');
    const wrong = await flowright(['task', 'answer', task, '--answer', '{"approved": 1}'], { home });
    expect(wrong.stderr).toContain('/approved of --answer');
    const asJson = await flowright(['task', 'answer', task, '--json'], { home });
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      message: expect.stringContaining('/answer is missing'),
      details: { errors: [{ code: 'invalid_type', message: 'is missing', path: '/answer' }] },
    });
  });

  it('reads the code of each mistake in a graph that is refused', async () => {
    const file = join(home, 'graph.json');
    writeFileSync(file, JSON.stringify({ nodes: [{ client_id: 'a', node_type: 'strat', config: {} }], edges: [] }));
    const { status, stderr } = await flowright(['flowchart', 'save', '1', file], { home });
    expect(status).toBe(1);
    expect(stderr).toMatch(/\n {2}must be one of start.* \(node_type_invalid at \/nodes\/0\/node_type\)\n/);
  });

  it('sees what each type of node takes', async () => {
    const { stdout } = await flowright(['flowchart', 'node-types'], { home });
    expect(stdout).toMatch(/\ntask +none +executor +"llm" +llm \| human \| static/);
    expect(stdout).toMatch(/\n +retry_count +1 +number, at least 0, at most 5/);
  });

  describe('with a model that takes its time', () => {
    let model: ReturnType<typeof createServer>;
    let asked = 0;

    beforeAll(async () => {
      model = createServer(() => {
        asked += 1;
      });
      await new Promise<void>((listening) => model.listen(0, '127.0.0.1', listening));
    });
    afterAll(() => {
      model.closeAllConnections();
      model.close();
    });

    it('leaves a run that this process walks with one Ctrl-C', async () => {
      const chart = await chartOf(
        JSON.stringify({
          nodes: [
            { client_id: 'start', node_type: 'start', config: {} },
            { client_id: 'think', node_type: 'task', config: { executor: 'llm', task_prompt: 'Think.' } },
          ],
          edges: [{ source: 'start', target: 'think', edge_mode: 'solid' }],
        }),
      );
      const env = {
        FLOWRIGHT_LLM: 'openai:slow',
        FLOWRIGHT_LLM_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
      };
      const child = spawn(process.execPath, [MAIN, 'flowchart', 'run', chart], { env: programEnv({ home, env }) });
      onTestFinished(() => void child.kill('SIGKILL'));
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (chunk) => {
          output += chunk;
        });
      }
      const ended = new Promise<number | null>((end) => child.once('close', end));
      await vi.waitFor(() => expect(asked).toBeGreaterThan(0), { timeout: 20_000 });
      const left = performance.now();
      child.kill('SIGINT');
      expect(await ended).toBe(1);
      expect(performance.now() - left).toBeLessThan(5_000);
      expect(output).toContain('The run is left as it is. Watch it again with: flowright run watch 1');
      expect(output).not.toContain('Walking run');
      expect((await flowright(['run', 'status', '1'], { home })).stdout).toMatch(/^run 1: (running|queued)\n/);
    });
  });

  describe.skipIf(!HAS_TMUX)('at a terminal (skipped where tmux is missing)', () => {
    it('is asked again by the demo until the answer is yes or no', async () => {
      const terminal = await openTerminal(tempFolder(), ['demo'], { home });
      onTestFinished(() => terminal.close());
      await terminal.shows(/Approve the release: yes or no\? \[Y\/n\]/);
      await terminal.presses('nope', 'Enter');
      const asked = await terminal.shows(/nope\s+Approve the release: yes or no\?/);
      expect(asked.match(WAITS)).toHaveLength(1);
      await terminal.presses('n', 'Enter');
      const shown = await terminal.shows(/ended with 0/);
      expect(shown).toContain('Not today');
      expect(shown).not.toContain('left as it is');
    });
  });
});
