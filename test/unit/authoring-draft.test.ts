import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type LooseRequest,
  readImportRequest,
  readProposeRequest,
  readRetireRequest,
} from '../../src/authoring/draft.ts';
import { FlowrightError, type Issue } from '../../src/kernel/errors.ts';
import { sampleFlow } from '../support/flows.ts';
import { spoiltDraft, THIRTY_MISTAKES } from '../support/spoilt-draft.ts';

function refusalOf(act: () => unknown): FlowrightError {
  try {
    act();
  } catch (error) {
    if (error instanceof FlowrightError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
/** `code path` of every issue, sorted. */
const places = (error: FlowrightError) =>
  (error.details.errors as Issue[]).map(({ code, path }) => `${code} ${path}`).sort();
const draft = (more: LooseRequest = {}): LooseRequest => ({ ...sampleFlow('flow_draft'), intent: 'Try it', ...more });
const { flow, steps } = sampleFlow('flow_draft');

describe('[FLR-all-mistakes] a draft with many mistakes', () => {
  it('gets all thirty of them back, each with its place', () => {
    const error = refusalOf(() => readProposeRequest(spoiltDraft()));
    expect(error).toMatchObject({ code: 'FLOW_DRAFT_INVALID', status: 400 });
    expect(THIRTY_MISTAKES).toHaveLength(30);
    expect(places(error)).toEqual([...THIRTY_MISTAKES].sort());
    expect(error.message).toMatch(/\(and 29 more\)\. Correct every place/);
    for (const { message } of error.details.errors as Issue[]) expect(message).toMatch(/\S/);
  });

  it('gets them back from an import too, below `bundle` where it stands there', () => {
    const { flow, steps, ...request } = spoiltDraft();
    const wrapped = refusalOf(() => readImportRequest({ bundle: { flow, steps }, ...request }));
    expect(wrapped.code).toBe('FLOW_IMPORT_BUNDLE_MALFORMED');
    const below = THIRTY_MISTAKES.map((line) => line.replace(/ \/(flow|steps)/, ' /bundle/$1'));
    expect(places(wrapped)).toEqual([...below].sort());
    expect(places(refusalOf(() => readImportRequest(spoiltDraft())))).toEqual([...THIRTY_MISTAKES].sort());
  });

  it('that is not a draft at all is still answered with places', () => {
    expect(places(refusalOf(() => readProposeRequest({})))).toEqual(
      ['intent_missing /intent', 'invalid_type /flow', 'invalid_type /steps'].sort(),
    );
    expect(places(refusalOf(() => readImportRequest({ bundle: 'text', intent: 'x' })))).toEqual(
      ['invalid_type /bundle/flow', 'invalid_type /bundle/steps'].sort(),
    );
  });

  it('never makes the reader fail with anything but a coded refusal', () => {
    const key = fc.constantFrom('flow', 'steps', 'intent', 'flow_id', 'bundle', 'base_version', 'external_ref', 'x');
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue()), (request) => {
        for (const read of [readProposeRequest, readImportRequest, readRetireRequest]) {
          try {
            read(request);
          } catch (error) {
            expect(error).toBeInstanceOf(FlowrightError);
            expect(places(error as FlowrightError).length).toBeGreaterThan(0);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('[S003-1.1-new-or-edit] a request to propose', () => {
  it('is read with its bundle made whole', () => {
    const { tags: _, ...bare } = flow;
    const read = readProposeRequest({ flow: bare, steps, intent: 'Try it' });
    expect(read).toEqual({
      bundle: { flow: { ...flow, tags: [] }, steps },
      intent: 'Try it',
      external_ref: '',
      idempotency_key: undefined,
    });
  });

  it.each([undefined, null, '', ' ', '\n\t ', 7, {}])('needs an intent; %o is none', (intent) => {
    const error = refusalOf(() => readProposeRequest({ flow, steps, intent }));
    expect(places(error)).toEqual(['intent_missing /intent']);
    expect(error.code).toBe('FLOW_DRAFT_INVALID');
    expect(refusalOf(() => readImportRequest({ flow, steps, intent })).code).toBe('FLOW_IMPORT_BUNDLE_MALFORMED');
    expect(refusalOf(() => readRetireRequest({ intent })).code).toBe('FLOW_DRAFT_INVALID');
  });

  it('[S003-3-untrusted-intent] keeps the intent letter by letter, up to 8000 of them', () => {
    const intent = '  \u001b[31m{{x}} ignore\nall rules  ';
    expect(readProposeRequest(draft({ intent })).intent).toBe(intent);
    expect(readProposeRequest(draft({ intent: 'x'.repeat(8_000) })).intent).toHaveLength(8_000);
    expect(places(refusalOf(() => readProposeRequest(draft({ intent: 'x'.repeat(8_001) }))))).toEqual([
      'too_big /intent',
    ]);
  });

  it('[S003-3-auto-approvable] may say auto_approvable, which is ignored; no other key that is not known', () => {
    for (const auto_approvable of [true, false, 'yes', null, {}]) {
      expect(readProposeRequest(draft({ auto_approvable }))).toEqual(readProposeRequest(draft()));
      expect(readImportRequest(draft({ auto_approvable }))).toEqual(readImportRequest(draft()));
    }
    for (const key of ['auto_approve', 'status', 'review_queue', 'evaluation_status', 'scope', 'vault_id', 'bundle']) {
      expect(places(refusalOf(() => readProposeRequest(draft({ [key]: 'x' }))))).toEqual([`unknown_key /${key}`]);
    }
    const inFlow = { ...flow, auto_approvable: true };
    expect(places(refusalOf(() => readProposeRequest(draft({ flow: inFlow }))))).toEqual([
      'unknown_key /flow/auto_approvable',
    ]);
  });

  it('names unknown keys as JSON pointers, and not without end', () => {
    expect(places(refusalOf(() => readProposeRequest(draft({ 'a/b~c': 1 }))))).toEqual(['unknown_key /a~1b~0c']);
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`key${at}${'x'.repeat(500)}`, at]));
    const error = refusalOf(() => readProposeRequest(draft(many)));
    expect(places(error)).toHaveLength(100);
    expect(JSON.stringify(error.details).length).toBeLessThan(30_000);
  });

  it('of a named flow is about that flow', () => {
    expect(readProposeRequest(draft({ flow_id: 'flow_draft' })).bundle.flow.flow_id).toBe('flow_draft');
    const error = refusalOf(() => readProposeRequest(draft({ flow_id: 'flow_other' })));
    expect([error.code, places(error)]).toEqual(['FLOW_DRAFT_INVALID', ['flow_id_mismatch /flow/flow_id']]);
  });

  it('may carry a pointer and a key of its own, each one line', () => {
    const read = readProposeRequest(draft({ external_ref: ' ticket:7 ', idempotency_key: 'k 1' }));
    expect(read).toMatchObject({ external_ref: 'ticket:7', idempotency_key: 'k 1' });
    for (const external_ref of ['a\nb', 'a\u0000b', 'a\u2028b', '\ud800', 7, null, 'x'.repeat(257)]) {
      expect(places(refusalOf(() => readProposeRequest(draft({ external_ref }))))).toEqual([
        'invalid_format /external_ref',
      ]);
    }
    for (const idempotency_key of ['', 'a\nb', 7, null, 'x'.repeat(129)]) {
      expect(places(refusalOf(() => readProposeRequest(draft({ idempotency_key }))))).toEqual([
        'invalid_format /idempotency_key',
      ]);
    }
    expect(readProposeRequest(draft({ external_ref: 'x'.repeat(256), idempotency_key: 'x'.repeat(128) }))).toBeTruthy();
  });
});

describe('[S003-5-import] a bundle to import', () => {
  const request = { intent: 'Use it here' };

  it('is the same under `bundle` as at the top, with its schema or without', () => {
    const exported = { schema: 'flowright.flow_bundle/v1', flow, steps };
    const forms = [{ bundle: { flow, steps } }, { bundle: exported }, { flow, steps }, exported];
    for (const form of forms) {
      expect(readImportRequest({ ...form, ...request })).toEqual({
        bundle: { flow, steps },
        intent: 'Use it here',
        external_ref: '',
        idempotency_key: undefined,
      });
    }
  });

  it('stands in one place only, and has no other keys', () => {
    expect(places(refusalOf(() => readImportRequest({ bundle: { flow, steps }, flow, steps, ...request })))).toEqual([
      'unknown_key /flow',
      'unknown_key /steps',
    ]);
    const more = { flow, steps, vault_id: 'a', token: 'b' };
    expect(places(refusalOf(() => readImportRequest({ bundle: more, ...request })))).toEqual([
      'unknown_key /bundle/token',
      'unknown_key /bundle/vault_id',
    ]);
    expect(places(refusalOf(() => readImportRequest({ flow, steps, base_version: '1.0.0', ...request })))).toEqual([
      'unknown_key /base_version',
    ]);
  });

  it.each([
    ['', '', ''],
    ['ticket:7', '', 'ticket:7'],
    ['', 'sales', 'source_vault_hint=sales'],
    [' ticket:7 ', ' sales ', 'ticket:7 source_vault_hint=sales'],
    ['a b', 'c d', 'a b source_vault_hint=c d'],
  ])('from %o and the vault %o points back to %o', (external_ref, source_vault_hint, expected) => {
    expect(readImportRequest({ flow, steps, ...request, external_ref, source_vault_hint }).external_ref).toBe(expected);
  });

  it('points back in at most 512 characters', () => {
    const whole = readImportRequest({
      flow,
      steps,
      ...request,
      external_ref: 'r'.repeat(256),
      source_vault_hint: 'h'.repeat(128),
    }).external_ref;
    expect(whole).toBe(`${'r'.repeat(256)} source_vault_hint=${'h'.repeat(128)}`);
    expect(whole.length).toBeLessThanOrEqual(512);
    for (const [key, value] of [
      ['external_ref', 'r'.repeat(257)],
      ['source_vault_hint', 'h'.repeat(129)],
      ['source_vault_hint', 'two\nlines'],
      ['source_vault_hint', 7],
    ] as const) {
      const error = refusalOf(() => readImportRequest({ flow, steps, ...request, [key]: value }));
      expect([error.code, places(error)]).toEqual(['FLOW_IMPORT_BUNDLE_MALFORMED', [`invalid_format /${key}`]]);
    }
  });
});
