import { expect } from 'vitest';
import { type Finished, flowright, type ProgramOptions } from './program.ts';

export interface Refused {
  error: string;
  code: string;
  message: string;
  details: Record<string, unknown>;
  request_id: string;
}

/** Somebody at a terminal. */
export interface Person {
  /** Types a command; whatever comes of it. */
  types(args: string[], input?: string): Promise<Finished>;
  /** Reads the text of a command that must succeed without complaint. */
  reads(args: string[], input?: string): Promise<string>;
  /** The payload of a command that must succeed: one line of JSON and nothing beside it. */
  asks<T = Record<string, unknown>>(args: string[], input?: string): Promise<T>;
  /** The envelope of a command that must be refused: nothing but it, and exit code 1. */
  isRefused(args: string[], input?: string): Promise<Refused>;
}

const ENVELOPE_KEYS = ['error', 'code', 'message', 'details', 'request_id'];

export function personAt(options: ProgramOptions): Person {
  const types: Person['types'] = (args, input) =>
    flowright(args, input === undefined ? options : { ...options, input });
  return {
    types,
    reads: async (args, input) => {
      const { status, stdout, stderr } = await types(args, input);
      expect({ status, stderr }, `flowright ${args.join(' ')}`).toEqual({ status: 0, stderr: '' });
      return stdout;
    },
    asks: async <T>(args: string[], input?: string) => {
      const { status, stdout, stderr } = await types([...args, '--json'], input);
      expect({ status, stderr }, `flowright ${args.join(' ')}`).toEqual({ status: 0, stderr: '' });
      expect(stdout, 'one line of JSON').toMatch(/^[^\n]+\n$/);
      return JSON.parse(stdout) as T;
    },
    isRefused: async (args, input) => {
      const { status, stdout, stderr } = await types([...args, '--json'], input);
      expect({ status, stdout }, `flowright ${args.join(' ')}: ${stderr}`).toEqual({ status: 1, stdout: '' });
      expect(stderr, 'one line of JSON').toMatch(/^\{[^\n]+\}\n$/);
      const envelope = JSON.parse(stderr) as Refused;
      expect(Object.keys(envelope)).toEqual(ENVELOPE_KEYS);
      return envelope;
    },
  };
}
