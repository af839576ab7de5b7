import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The built program, as people run it. */
export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface ProgramOptions {
  home: string;
  /** A PostgreSQL address; the embedded database without it. */
  databaseUrl?: string | undefined;
  env?: Record<string, string>;
  input?: string;
}

export interface Finished {
  status: number | null;
  stdout: string;
  stderr: string;
}

export function programEnv(options: ProgramOptions): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(FLOWRIGHT|FLOW|HUB|FLOWISE|KNOWLEDGE|WORKDAY)_/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    FLOWRIGHT_HOME: options.home,
    DATABASE_URL: options.databaseUrl ?? '',
    NO_COLOR: '1',
    ...options.env,
  };
}

/** Runs a command to its end. */
export function flowright(args: string[], options: ProgramOptions): Promise<Finished> {
  return new Promise((finish, fail) => {
    const child = spawn(process.execPath, [MAIN, ...args], { env: programEnv(options), stdio: 'pipe' });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output.stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      output.stderr += chunk;
    });
    child.once('error', fail);
    child.once('close', (status) => finish({ status, ...output }));
    child.stdin.end(options.input ?? '');
  });
}

/** Runs a command that must succeed and returns its parsed JSON. */
export async function flowrightJson<T = Record<string, unknown>>(args: string[], options: ProgramOptions): Promise<T> {
  const { status, stdout, stderr } = await flowright([...args, '--json'], options);
  if (status !== 0) throw new Error(`flowright ${args.join(' ')} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** A running hub on a free port. */
export interface Hub {
  url: string;
  signinLink: string;
  child: ChildProcess;
  output(): string;
  stop(): Promise<number | null>;
}

export async function startHub(options: ProgramOptions): Promise<Hub> {
  const env = {
    ...programEnv(options),
    FLOWRIGHT_LOG_LEVEL: 'warn',
    FLOWRIGHT_PORT: options.env?.FLOWRIGHT_PORT ?? '0',
  };
  const child = spawn(process.execPath, [MAIN, 'hub'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const [, url, signinLink] = await new Promise<RegExpExecArray>((ready, fail) => {
    const look = (chunk: Buffer): void => {
      output += chunk;
      const match = /listening on (http:\S+)\s+sign in: (\S+)/.exec(output);
      if (match) ready(match);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.once('exit', (code) => fail(new Error(`the hub ended with ${code}: ${output}`)));
  });
  child.removeAllListeners('exit');
  const ended = new Promise<number | null>((end) => child.once('exit', (code) => end(code)));
  const stop = (): Promise<number | null> => {
    child.kill('SIGINT');
    return ended;
  };
  return { url: url as string, signinLink: signinLink as string, child, output: () => output, stop };
}
