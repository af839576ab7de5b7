import type * as z from 'zod';
import type { Issue } from '../kernel/errors.ts';

/** RFC 6901: ['steps', 0, 'a/b'] → /steps/0/a~1b. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A schema's complaints in the form every door shows. An unknown key gets an issue of its own. */
export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue): Issue[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        code: 'unknown_key',
        message: `unknown key ${JSON.stringify(key)}`,
        path: jsonPointer([...issue.path, key]),
      }));
    }
    return [{ code: issue.code, message: issue.message, path: jsonPointer(issue.path) }];
  });
}
