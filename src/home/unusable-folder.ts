import { type FlowrightError, refusal } from '../kernel/errors.ts';

/** The data folder is read-only, somebody else's, or no folder. */
export function unusableFolder(folder: string, error: unknown): FlowrightError {
  const { code } = error as NodeJS.ErrnoException;
  return refusal(
    'CONFIG_INVALID',
    `The data folder ${folder} cannot be used (${code}). Set FLOWRIGHT_HOME to a folder that you may write to.`,
  );
}
