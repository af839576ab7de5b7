import type * as z from 'zod';
import type { Issue } from '../kernel/errors.ts';

/** An answer must stay small, whatever was sent. */
const MAX_ISSUES = 100;
const MAX_QUOTED = 100;

/** RFC 6901: ['steps', 0, 'a/b'] → /steps/0/a~1b. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A schema's complaints in the form every door shows. An unknown key gets an issue of its own. */
export function issuesOf(error: z.ZodError): Issue[] {
  const issues = error.issues.flatMap((issue): Issue[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.slice(0, MAX_ISSUES).map((key) => ({
        code: 'unknown_key',
        message: 'is not a known key',
        path: jsonPointer([...issue.path, key.slice(0, MAX_QUOTED)]),
      }));
    }
    return [{ code: issue.code, message: inPlainWords(issue), path: jsonPointer(issue.path) }];
  });
  return issues.slice(0, MAX_ISSUES);
}

/** Reads on from the place: `/limit must be at most 200`. */
function inPlainWords(issue: z.core.$ZodIssue): string {
  // What a schema says in its own words is better than what follows from its kind.
  if (!/^(?:Invalid|Too (?:big|small))/.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined') ? 'is missing' : `must be of type ${issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_big':
      return `must ${bound(issue.origin, 'most', issue.maximum)}`;
    case 'too_small':
      return `must ${bound(issue.origin, 'least', issue.minimum)}`;
    default:
      return issue.message;
  }
}

function bound(origin: string, side: 'most' | 'least', limit: number | bigint): string {
  if (origin === 'string') return `have at ${side} ${limit} characters`;
  if (origin === 'array') return `have at ${side} ${limit} items`;
  return `be at ${side} ${limit}`;
}
