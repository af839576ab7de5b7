import { FlowrightError } from '../kernel/errors.ts';

/** What the file system refused, in words that name the folder; any other error as it is. */
export function folderFault(folder: string, what: string, error: unknown): unknown {
  const { syscall, code } = (error ?? {}) as NodeJS.ErrnoException;
  if (error instanceof FlowrightError || syscall === undefined || code === undefined) return error;
  const way = 'Make it a folder that you may write to, or name another with KNOWLEDGE_SCHEMAS_DIR.';
  return new FlowrightError('SNAPSHOT_INVALID', `${what} cannot be written in ${folder} (${code}). ${way}`, {
    cause: error,
  });
}
