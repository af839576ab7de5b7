/** Why a file cannot be used, in words that may leave the process: no path of the machine, no stack. */
export class FileFault extends Error {}

const WORDS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'it may not be accessed',
  EPERM: 'it may not be changed',
  EROFS: 'the disk can only be read',
  EIO: 'the disk has failed',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ENAMETOOLONG: 'its name is too long for this disk',
  ENOTDIR: 'something that is not a folder is on the way to it',
  EISDIR: 'there is a folder of that name',
};

/** The reason of a failed file operation, as the end of a sentence. */
export function faultOf(error: unknown): string {
  if (error instanceof FileFault) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  const words = code === undefined ? undefined : WORDS[code];
  return words ?? `the file system refused (${code ?? 'unknown reason'})`;
}
