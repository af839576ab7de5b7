import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flag, isUnder, NO_TRIGGERS } from '../../src/policy/index.ts';
import type { Triggers } from '../../src/policy/triggers.ts';

const proposal = { path: 'projects/legal/plan.md', body: 'Ship it.', intent: 'Sooner', labels: ['Security', 'q3'] };
const triggers = (some: Partial<Triggers>): Triggers => ({ ...NO_TRIGGERS, ...some });
const reasons = (some: Partial<Triggers>, changed: Partial<typeof proposal> = {}) =>
  flag(triggers(some), { ...proposal, ...changed }).reasons;

describe('[FLR-triggers] a proposal that no rule hits', () => {
  it('has no reason, no queue and the standard severity', () => {
    expect(flag(NO_TRIGGERS, proposal)).toEqual({ reasons: [], review_queue: undefined, review_severity: 'standard' });
    const missed = triggers({
      literal_phrases: [{ match: 'production', review_queue: 'ops', review_severity: 'elevated' }],
      path_prefixes: [{ prefix: 'projects/leg', review_queue: 'legal' }],
      label_any: [{ labels: ['secure'], review_severity: 'elevated' }],
    });
    expect(flag(missed, proposal)).toEqual(flag(NO_TRIGGERS, proposal));
  });
});

describe('[FLR-triggers] a phrase', () => {
  it.each([
    ['the path', { path: 'areas/ÜBUNG/a.md' }, 'übung'],
    ['the body', { body: 'We go to\nPRODUCTION today' }, 'production'],
    ['the intent', { intent: 'Because of Payroll' }, 'payroll'],
    ['the seam of path and body', {}, 'plan.md\nship'],
    ['the seam of body and intent', {}, 'it.\nsoon'],
  ])('is found in %s, in any case', (_, changed, match) => {
    for (const word of [match, match.toUpperCase()]) {
      expect(reasons({ literal_phrases: [{ match: word }] }, changed)).toEqual([`phrase:${word}`]);
    }
  });

  it('is a text and not a pattern', () => {
    expect(reasons({ literal_phrases: [{ match: '.*' }, { match: 'ship|it' }] })).toEqual([]);
    expect(reasons({ literal_phrases: [{ match: '.*' }] }, { body: 'a .* b' })).toEqual(['phrase:.*']);
  });

  it('is not looked for in labels', () => {
    expect(reasons({ literal_phrases: [{ match: 'security' }] })).toEqual([]);
  });

  it('is shown up to 48 characters', () => {
    const match = 'x'.repeat(128);
    expect(reasons({ literal_phrases: [{ match }] }, { body: match })).toEqual([`phrase:${'x'.repeat(48)}`]);
  });
});

describe('[FLR-triggers] a folder', () => {
  it.each([
    ['projects', true],
    ['projects/legal', true],
    ['/projects/legal/', true],
    ['projects/legal/plan.md', true],
    ['projects/leg', false],
    ['projects/legal/plan', false],
    ['legal', false],
    ['Projects', false],
  ])('%s holds the note: %s', (prefix, expected) => {
    expect(isUnder(proposal.path, prefix)).toBe(expected);
    expect(reasons({ path_prefixes: [{ prefix }] })).toEqual(expected ? [`path_prefix:${prefix}`] : []);
  });

  it('holds whatever lies below it, and its namesakes with more letters do not', () => {
    const part = fc.stringMatching(/^[a-z0-9-]{1,8}$/);
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(path, path, part, (folder, rest, more) => {
        expect(isUnder(`${folder}/${rest}`, folder)).toBe(true);
        expect(isUnder(`${folder}${more}/${rest}`, folder)).toBe(false);
      }),
    );
  });
});

describe('[FLR-triggers] labels', () => {
  it('hit when one of them is there, in any case', () => {
    expect(reasons({ label_any: [{ labels: ['legal', 'SECURITY'] }] })).toEqual(['label_any:legal,SECURITY']);
    expect(reasons({ label_any: [{ labels: ['Q3'] }, { labels: ['q4'] }] })).toEqual(['label_any:Q3']);
    expect(reasons({ label_any: [{ labels: ['secur'] }] })).toEqual([]);
  });
});

describe('[FLR-triggers] of several rules that hit', () => {
  it('the last queue wins: phrases, then folders, then labels', () => {
    const queue = (some: Partial<Triggers>) => flag(triggers(some), proposal).review_queue;
    const phrase = { match: 'ship', review_queue: 'from-phrase' };
    const folder = { prefix: 'projects', review_queue: 'from-folder' };
    const label = { labels: ['q3'], review_queue: 'from-label' };
    expect(queue({ literal_phrases: [{ match: 'it', review_queue: 'first' }, phrase] })).toBe('from-phrase');
    expect(queue({ literal_phrases: [phrase], path_prefixes: [folder] })).toBe('from-folder');
    expect(queue({ label_any: [label], path_prefixes: [folder], literal_phrases: [phrase] })).toBe('from-label');
    expect(queue({ literal_phrases: [phrase, { match: 'it' }] }), 'a rule without a queue takes none away').toBe(
      'from-phrase',
    );
  });

  it('elevated wins, wherever it stands', () => {
    const severity = (...found: ('standard' | 'elevated')[]) =>
      flag(
        triggers({ literal_phrases: found.map((review_severity) => ({ match: 'ship', review_severity })) }),
        proposal,
      ).review_severity;
    expect(severity('standard', 'standard')).toBe('standard');
    expect(severity('elevated', 'standard')).toBe('elevated');
    expect(severity('standard', 'elevated')).toBe('elevated');
  });

  it('32 reasons of 256 characters are kept, and the rest still decides queue and severity', () => {
    const literal_phrases = Array.from({ length: 40 }, () => ({ match: 'ship' }));
    const long = 'l'.repeat(300);
    const flagged = flag(
      triggers({ literal_phrases, label_any: [{ labels: [long], review_queue: 'end', review_severity: 'elevated' }] }),
      { ...proposal, labels: [long] },
    );
    expect(flagged.reasons).toEqual(Array.from({ length: 32 }, () => 'phrase:ship'));
    expect(flagged).toMatchObject({ review_queue: 'end', review_severity: 'elevated' });
    expect(reasons({ label_any: [{ labels: [long] }] }, { labels: [long] })).toEqual([
      `label_any:${long}`.slice(0, 256),
    ]);
  });
});
