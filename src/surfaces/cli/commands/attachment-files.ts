import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { refusal } from '../../../kernel/errors.ts';
import { inertLine } from '../../../kernel/terminal.ts';
import { descend } from '../operation-command.ts';
import { operationNamed } from '../operation-named.ts';
import type { Cli } from '../run.ts';

const STANDARD_INPUT = 0;

interface UploadOptions {
  name?: string;
  contentType?: string;
}

interface FileOptions {
  out?: string;
  force?: boolean;
}

interface SavedFile {
  content_base64: string;
  file_name: string;
  size_bytes: number;
}

/** Attachments come from files and go into files. */
export function register(program: Command, cli: Cli): void {
  descend(program, ['attachment', 'upload'])
    .argument('<file>', 'the file; - for standard input')
    .description('Upload a file for nodes to work with')
    .option('--name <name>', 'name to store it under (default: its own)')
    .option('--content-type <type>', 'what it holds (default: guessed from the name)')
    .addHelpText(
      'after',
      '\nExamples:\n  flowright attachment upload report.pdf\n  flowright attachment upload - --name notes.txt < notes.txt',
    )
    .action((file: string, options: UploadOptions) => upload(file, options, cli));
  descend(program, ['attachment', 'file'])
    .argument('<attachment_id>', 'id of the attachment')
    .description('Save the content of an attachment')
    .option('--out <file>', 'where to; - for standard output')
    .option('--force', 'write over a file that is there')
    .addHelpText(
      'after',
      '\nExamples:\n  flowright attachment file 3 --out report.pdf\n  flowright attachment file 3 --out - | less',
    )
    .action((id: string, options: FileOptions) => save(id, options, cli));
}

async function upload(file: string, options: UploadOptions, cli: Cli): Promise<void> {
  if (file === '-' && options.name === undefined) {
    throw refusal('USAGE_ERROR', 'Standard input has no name: give one with --name.');
  }
  const bytes = readBytes(file);
  await cli.call(await operationNamed('attachment.upload'), {
    file_name: options.name ?? basename(file),
    ...(options.contentType === undefined ? {} : { content_type: options.contentType }),
    content_base64: bytes.toString('base64'),
  });
}

async function save(id: string, options: FileOptions, cli: Cli): Promise<void> {
  const { json } = cli.options();
  const { out } = options;
  if (json ? out !== undefined : out === undefined) {
    throw refusal(
      'USAGE_ERROR',
      'Save the file with --out FILE (- for standard output), or print the payload with --json.',
    );
  }
  const attachment_id = /^\d{1,15}$/.test(id) ? Number(id) : id;
  const answer = await cli.ask(await operationNamed('attachment.file'), { attachment_id });
  if (out === undefined) {
    cli.print(answer);
    return;
  }
  const { content_base64, file_name, size_bytes } = JSON.parse(answer) as SavedFile;
  const bytes = Buffer.from(content_base64, 'base64');
  if (out === '-') {
    process.stdout.write(bytes);
    return;
  }
  writeBytes(out, bytes, options.force === true);
  cli.tell(`${inertLine(file_name)} (${size_bytes} bytes) is saved as ${inertLine(out)}.`);
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? STANDARD_INPUT : file);
  } catch (error) {
    throw refusal('USAGE_ERROR', `The file cannot be read (${codeOf(error)}). Name a file, or - for standard input.`);
  }
}

/** Readable by its owner only: nobody said that it is for others too. */
function writeBytes(path: string, bytes: Buffer, force: boolean): void {
  try {
    const file = openSync(path, force ? 'w' : 'wx', 0o600);
    try {
      writeFileSync(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') throw refusal('USAGE_ERROR', `${path} is there already. Add --force to write over it.`);
    throw refusal('USAGE_ERROR', `Cannot write ${path} (${code}). Name another file with --out.`);
  }
}

function codeOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return code;
}
