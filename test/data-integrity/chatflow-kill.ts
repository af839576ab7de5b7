import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestStore } from '../support/databases.ts';
import type { FakeFlowise, Fault } from '../support/fake-flowise/index.ts';
import { type Finished, flowright, MAIN, type ProgramOptions, programEnv } from '../support/program.ts';

/** A request at which a program dies: its so-many-th on that route, before or after it takes effect. */
export interface DeathPoint {
  name: string;
  method: string;
  route: string;
  /** So many requests on this route are answered first. */
  after?: number;
  kind: 'hang' | 'hang_after';
  /** What was asked for is on the server by then. */
  arrived: boolean;
}

export interface Apply extends Record<string, unknown> {
  name?: string;
  chatflow_id?: string;
  ops: unknown[];
  base_hash?: string;
  payload_hash: string;
  message?: string;
}

let files = 0;

/** The words of `chatflow apply` for this input. */
function wordsOf(store: TestStore, { ops, ...rest }: Apply): string[] {
  files += 1;
  const file = join(store.home, `ops-${files}.json`);
  writeFileSync(file, JSON.stringify(ops));
  const options = Object.entries(rest).map(([key, value]) => `--${key.replaceAll('_', '-')}=${value}`);
  return ['chatflow', 'apply', file, ...options, '--json'];
}

function optionsOf(store: TestStore, fake: FakeFlowise): ProgramOptions {
  const env = { FLOWISE_API_URL: fake.url, FLOWISE_API_KEY: fake.apiKey, FLOWRIGHT_IDENTITY: 'local' };
  return { home: store.home, databaseUrl: store.databaseUrl, env };
}

/** A program that applies, to its end. */
export function applyInProgram(store: TestStore, fake: FakeFlowise, input: Apply): Promise<Finished> {
  return flowright(wordsOf(store, input), optionsOf(store, fake));
}

/** Any other command, killed at the point. */
export async function killedAt(store: TestStore, fake: FakeFlowise, words: string[], point: DeathPoint): Promise<void> {
  const child = spawn(process.execPath, [MAIN, ...words], {
    env: programEnv(optionsOf(store, fake)),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  const reached = new Promise<void>((arrive) => {
    const { method, route, after = 0, kind } = point;
    if (after > 0) fake.fault(method, route, { kind: 'none', times: after });
    const fault: Fault = { kind, times: 1, before: () => arrive() };
    fake.fault(method, route, fault);
  });
  const first = await Promise.race([reached.then(() => 'reached' as const), ended]);
  if (first !== 'reached') throw new Error(`it ended with ${first[0]} before ${point.name}: ${said}`);
  child.kill('SIGKILL');
  await ended;
  fake.heal();
}

/** A program that applies and is killed at the point. */
export function applyKilledAt(store: TestStore, fake: FakeFlowise, input: Apply, point: DeathPoint): Promise<void> {
  return killedAt(store, fake, wordsOf(store, input), point);
}
