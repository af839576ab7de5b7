import { describe, expect, it } from 'vitest';
import { CONTEXT_NAMES, compileCel } from '../../src/flowcharts/nodes/decision/cel.ts';
import {
  conditionFault,
  evaluateCondition,
  lookUp,
  readCondition,
} from '../../src/flowcharts/nodes/decision/conditions.ts';

const STRUCTURED = {
  route_key: 'approve',
  score: 7,
  ok: true,
  off: false,
  none: null,
  note: 'Urgent fix',
  tags: ['Red', 'blue'],
};
const CONTEXT = {
  latest_upstream: { output_state: { structured_output: STRUCTURED }, routing_state: { route_key: 'ship' } },
  upstream_nodes: Array.from({ length: 3 }, (_, at) => ({ node_id: at })),
};
const BASE = 'latest_upstream.output_state.structured_output';

const evaluate = (text: string, context: object = CONTEXT) =>
  evaluateCondition(readCondition(text, CONTEXT_NAMES), context, compileCel, 200);
const matches = (text: string, context?: object) => {
  const verdict = evaluate(text, context);
  if ('invalid' in verdict) throw new Error(verdict.invalid);
  return verdict.matched;
};
const reason = (text: string, context?: object) => {
  const verdict = evaluate(text, context);
  return 'invalid' in verdict ? verdict.invalid : verdict.reason;
};

describe('[FLR-decision-examples] a condition of the simple form', () => {
  it.each([
    [`${BASE}.route_key == approve`, true],
    [`${BASE}.route_key != "approve"`, false],
    [`${BASE}.note contains urgent`, true],
    [`${BASE}.note CONTAINS 'urgent fix'`, true],
    [`${BASE}.note contains urgent fix`, true],
    [`${BASE}.missing == x`, false],
    [`${BASE}.missing != x`, false],
    [`${BASE}.missing contains x`, false],
    [`${BASE}.ok`, true],
    [`${BASE}.off`, false],
    [`${BASE}.score`, true],
    [`${BASE}.note`, false],
    ['approve', true],
    ['APPROVE', true],
    ['ship', true],
    ['reject', false],
    ['', false],
    ['   ', false],
    [`${BASE}.tags contains red`, true],
    [`${BASE}.tags contains re`, false],
    ['latest_upstream', true],
    ['upstream_nodes.2.node_id == 2', true],
    ['upstream_nodes.length == 3', false],
    ['true', true],
    ['false', false],
  ])('%s is %s', (text, expected) => {
    expect(matches(text)).toBe(expected);
  });

  it('says which path is missing, and what the value is', () => {
    expect(reason(`${BASE}.missing == x`)).toBe(`path not found: ${BASE}.missing`);
    expect(reason(`${BASE}.score == 8`)).toBe(`${BASE}.score is 7`);
    expect(reason('')).toContain('blank');
    expect(reason('reject')).toBe('the route key is "approve"');
    expect(reason('reject', {})).toBe('there is no route key');
  });

  it('is never a search through the whole context', () => {
    expect(evaluate('urgent fix')).toHaveProperty('invalid');
    expect(matches('urgent')).toBe(false);
    expect(conditionFault('urgent fix', CONTEXT_NAMES, compileCel)).not.toBeNull();
  });

  it('sees nothing that is inherited', () => {
    expect(lookUp(CONTEXT, 'latest_upstream.constructor.name')).toBeUndefined();
    expect(lookUp(CONTEXT, '__proto__.toString')).toBeUndefined();
    expect(lookUp(CONTEXT, 'upstream_nodes.length')).toBeUndefined();
    expect(matches('latest_upstream.toString')).toBe(false);
  });
});

describe('[FLR-decision-types] values compare as what they are', () => {
  it.each([
    [`${BASE}.ok == true`, true],
    [`${BASE}.ok == True`, true],
    [`${BASE}.ok != false`, true],
    [`${BASE}.ok == 1`, false],
    [`${BASE}.score == 7`, true],
    [`${BASE}.score == 7.0`, true],
    [`${BASE}.score == "7"`, true],
    [`${BASE}.score == 07`, true],
    [`${BASE}.score != 8`, true],
    [`${BASE}.score == seven`, false],
    [`${BASE}.none == null`, true],
    [`${BASE}.note == "Urgent fix"`, true],
    [`${BASE}.note == "urgent fix"`, false],
  ])('%s is %s', (text, expected) => {
    expect(matches(text)).toBe(expected);
  });
});

describe('[FLR-decision-cel] any other condition is an expression', () => {
  it.each([
    [`${BASE}.score > 5 && ${BASE}.ok`, true],
    [`${BASE}.score >= 7.5 || ${BASE}.note.startsWith("Urgent")`, true],
    [`!(${BASE}.score < 5)`, true],
    [`${BASE}.score + 1 == 8`, true],
    [`${BASE}.score % 2 == 1`, true],
    [`has(${BASE}.missing)`, false],
    [`"Red" in ${BASE}.tags`, true],
    [`${BASE}.tags.exists(t, t == "blue")`, true],
    [`size(upstream_nodes) == 3`, true],
    [`${BASE}.route_key == latest_upstream.routing_state.route_key`, false],
    [`${BASE}.note.matches("^Urg")`, true],
  ])('%s is %s', (text, expected) => {
    expect(matches(text)).toBe(expected);
  });

  it('reports that it is one', () => {
    expect(readCondition(`${BASE}.score > 5`, CONTEXT_NAMES).form).toBe('expression');
    expect(readCondition(`${BASE}.a == latest_upstream.b`, CONTEXT_NAMES).form).toBe('expression');
    expect(readCondition(`${BASE}.version == 1.2.3`, CONTEXT_NAMES).form).toBe('comparison');
  });
});

describe('[FLR-decision-bounded] an expression that goes wrong does not match', () => {
  it.each([
    ['names what is not there', `${BASE}.missing > 3`, 'No such key'],
    ['compares what cannot be compared', `${BASE}.note > 3`, 'no such overload'],
    ['gives no boolean', `(${BASE}.score)`, 'a number, not true or false'],
    ['divides by nothing', `1 / (${BASE}.score - 7) > 0`, 'division by zero'],
    ['divides whole numbers by nothing', `1 / 0 == ${BASE}.score`, 'division by zero'],
  ])('when it %s', (_, text, said) => {
    expect(evaluate(text)).toMatchObject({ matched: false, failed: true, path: null });
    expect(reason(text)).toContain(said);
  });

  it('when its pattern would backtrack for ever', () => {
    const context = { latest_upstream: { text: `${'a'.repeat(60)}b` } };
    const began = performance.now();
    expect(reason('latest_upstream.text.matches("^(a+)+$")', context)).toContain('longer than');
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  it('when it would loop over too much', () => {
    const context = { upstream_nodes: Array.from({ length: 20_000 }, (_, at) => ({ n: at })) };
    const began = performance.now();
    const text = 'upstream_nodes.all(a, upstream_nodes.all(b, a.n + b.n >= 0))';
    expect(reason(text, context)).toContain('longer than');
    expect(performance.now() - began).toBeLessThan(3_000);
  });
});

describe('[FLR-decision-invalid] an expression that cannot be read', () => {
  it.each([
    ['is not of the language', 'score is high', 'Unexpected'],
    ['names something unknown', 'scoer > 3', 'Unknown variable'],
    ['can never be true or false', '"a" + "b"', 'not true or false'],
    ['is too long', `${BASE}.score > 1 && `.repeat(200), 'longer than'],
    ['nests loops', 'upstream_nodes.all(a, upstream_nodes.all(b, upstream_nodes.all(c, true)))', 'loops'],
    ['is too large', `${'('.repeat(300)}true${')'.repeat(300)} && true`, ''],
    ['has too many parts', `[${'1,'.repeat(500)}1].size() > 2`, ''],
  ])('because it %s has a fault', (_, text, said) => {
    expect(conditionFault(text, CONTEXT_NAMES, compileCel)).toContain(said);
    expect(evaluate(text)).toHaveProperty('invalid');
  });
});
