import { describe, expect, it } from 'vitest';
import {
  asFlowrightError,
  badRequest,
  ERRORS,
  type ErrorCode,
  FlowrightError,
  refusal,
} from '../../src/kernel/errors.ts';
import { errorEnvelope } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { sourceFiles } from './source-files.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];
/** As the contract writes them. */
const LOWER_CASE: ErrorCode[] = [
  'unknown_flow',
  'graph_conflict',
  'approval_required',
  'chatflow_conflict',
  'payload_mismatch',
];

describe('[FLR-errors-closed] the catalogue of errors', () => {
  it('holds 59 codes: a new one is added here and in docs/errors.md, an old one is never removed', () => {
    expect(CODES).toHaveLength(59);
  });

  it.each(CODES)('%s has an HTTP error status and says what to do next', (code) => {
    const { status, next } = ERRORS[code];
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(next).toMatch(/^[A-Z].*\.$/);
    expect(code).toMatch(LOWER_CASE.includes(code) ? /^[a-z_]+$/ : /^[A-Z_]+$/);
  });

  it.each(CODES)('%s is used somewhere', (code) => {
    const users = sourceFiles().filter(
      ({ path, text }) => path !== 'src/kernel/errors.ts' && text.includes(`'${code}'`),
    );
    expect(users.map(({ path }) => path)).not.toEqual([]);
  });

  it('holds every code that an operation says it answers with', async () => {
    const said = (await createCatalogue().all()).flatMap(({ errors }) => errors ?? []);
    expect(said.filter((code) => !Object.hasOwn(ERRORS, code))).toEqual([]);
  });
});

describe('an error', () => {
  it('has the status of its code and keeps its cause', () => {
    const cause = new Error('below');
    const error = new FlowrightError('CONFLICT', 'Two at once.', { details: { a: 1 }, cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ code: 'CONFLICT', status: 409, message: 'Two at once.', details: { a: 1 }, cause });
    expect(refusal('NOT_FOUND', 'x').details).toEqual({});
  });

  it('of a bad input names the first problem and counts the rest', () => {
    const issues = [
      { code: 'too_big', message: 'must be smaller', path: '/limit' },
      { code: 'unknown_key', message: 'is not a known key', path: '/x' },
    ];
    const error = badRequest(issues, 'flow.list');
    expect(error.message).toBe(
      'flow.list was refused: /limit must be smaller (and 1 more). Correct the named fields and send the request again.',
    );
    expect(error.details).toEqual({ errors: issues });
    expect(badRequest(issues.slice(0, 1)).message).not.toContain('more');
    expect(badRequest([]).code).toBe('BAD_REQUEST');
  });

  it('of ours passes through; anything else becomes INTERNAL_ERROR and tells nothing', () => {
    const ours = refusal('FORBIDDEN', 'no');
    expect(asFlowrightError(ours)).toBe(ours);
    for (const thrown of [new Error('password hunter2'), 'hunter2', undefined, null, { hunter2: 1 }]) {
      const error = asFlowrightError(thrown);
      expect(error).toMatchObject({ code: 'INTERNAL_ERROR', status: 500, details: {} });
      expect(error.cause).toBe(thrown);
      expect(JSON.stringify(errorEnvelope(error, { request_id: 'r' }))).not.toContain('hunter2');
    }
  });
});
