import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { refusal } from '../../kernel/errors.ts';

/** Asks for one line on the terminal and shows none of it. Ctrl-C and Ctrl-D give up. */
export async function askHidden(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  process.stderr.write(question);
  const answer = await new Promise<string | null>((answered) => {
    terminal.once('line', answered);
    terminal.once('close', () => answered(null));
    terminal.once('SIGINT', () => terminal.close());
  });
  terminal.close();
  process.stderr.write('\n');
  if (answer === null) throw refusal('USAGE_ERROR', 'Nothing was entered, so nothing is changed.');
  return answer.trim();
}

/** The first line of standard input, for a secret that a program hands over. */
export function lineFromInput(option: string): string {
  let text: string;
  try {
    text = readFileSync(0, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refusal('USAGE_ERROR', `Standard input cannot be read for ${option} (${code}).`);
  }
  const line = (text.split('\n', 1)[0] ?? '').trim();
  if (line === '') throw refusal('USAGE_ERROR', `${option} - reads standard input, and that is empty.`);
  return line;
}
