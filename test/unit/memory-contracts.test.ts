import { describe, expect, it } from 'vitest';
import { readAddInference, readRetrieveInference } from '../../src/flowcharts/nodes/memory/contracts.ts';
import { lookUp } from '../../src/flowcharts/nodes/memory/dot-path.ts';

const invalid = expect.objectContaining({ name: 'AttemptFailure', reason: 'llm_validation_error' });

describe('what a model answers', () => {
  it('[S004-memory-add-contract] to add is a text, a store mode and a confidence', () => {
    expect(readAddInference({ text: ' keep ', store_mode: 'replace', confidence: 1.4 })).toEqual({
      text: 'keep',
      store_mode: 'replace',
      confidence: 1,
    });
    expect(readAddInference({ text: 'a', store_mode: 'merge', confidence: 'high' })).toEqual({ text: 'a' });
    expect(readAddInference({ text: 'a', confidence: -3 })).toEqual({ text: 'a', confidence: 0 });
    expect(readAddInference({ text: 'a', confidence: '0.25' })).toEqual({ text: 'a', confidence: 0.25 });
  });

  it('[S004-memory-add-contract] without a text is refused', () => {
    for (const text of [5, '  ', '', null, undefined, ['a'], 'x'.repeat(70_000), 'a\u0000']) {
      expect(() => readAddInference({ text })).toThrow(invalid);
    }
  });

  it('[S004-memory-retrieve-contract] to retrieve is a query, an id, a limit and a confidence', () => {
    expect(readRetrieveInference({ limit: '500', memory_id: -3, query_text: null })).toEqual({
      limit: 50,
      query_text: '',
    });
    expect(readRetrieveInference({})).toEqual({});
    expect(readRetrieveInference({ limit: 0, memory_id: '7', query_text: 12, confidence: 0.5 })).toEqual({
      limit: 1,
      memory_id: 7,
      query_text: '12',
      confidence: 0.5,
    });
    expect(readRetrieveInference({ limit: 'all', memory_id: 1.5, confidence: [] })).toEqual({});
    expect(() => readRetrieveInference({ query_text: { words: 1 } })).toThrow(invalid);
  });
});

describe('a dot path', () => {
  const root = { a: { list: [{ b: 1 }, null], '': 2 } };

  it('walks objects and lists, and ends where there is nothing', () => {
    expect(lookUp(root, 'a.list.0.b')).toBe(1);
    expect(lookUp(root, ' a . list . 0 ')).toEqual({ b: 1 });
    expect(lookUp(root, 'a..list.1')).toBeNull();
    expect(lookUp(root, '')).toBe(root);
    for (const path of ['a.list.length', 'a.list.-1', 'a.list.1.b', 'constructor', 'a.__proto__', 'b']) {
      expect(lookUp(root, path)).toBeUndefined();
    }
  });
});
