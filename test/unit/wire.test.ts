import { describe, expect, it } from 'vitest';
import { refusal } from '../../src/kernel/errors.ts';
import { errorEnvelope, keepReady, toJson, toJsonBytes } from '../../src/operations/index.ts';

describe('a payload on the wire', () => {
  it.each([[{ b: 1, a: 'é😀' }], [[1, null]], ['text'], [null], [5]])('%j has the same text as bytes', (payload) => {
    expect(toJsonBytes(payload).toString('utf8')).toBe(toJson(payload));
  });

  it('keeps the order of its keys and has no spaces', () => {
    expect(toJson({ b: 1, a: [1, 2] })).toBe('{"b":1,"a":[1,2]}');
  });

  it('kept ready is turned into bytes once', () => {
    const payload = keepReady({ a: 1 });
    expect(toJsonBytes(payload)).toBe(toJsonBytes(payload));
    expect(toJsonBytes(payload).toString()).toBe('{"a":1}');
    expect(toJsonBytes({ a: 1 })).not.toBe(toJsonBytes(payload));
  });
});

describe('the envelope of an error', () => {
  it('has its keys in one order, and error equals message', () => {
    const error = refusal('FORBIDDEN', 'Not you.', { a: 1 });
    expect(toJson(errorEnvelope(error, { request_id: 'r', correlation_id: 'c' }))).toBe(
      '{"error":"Not you.","code":"FORBIDDEN","message":"Not you.","details":{"a":1},"request_id":"r","correlation_id":"c"}',
    );
  });

  it('has no correlation id where the request had none', () => {
    const envelope = errorEnvelope(refusal('FORBIDDEN', 'no'), { request_id: 'r', correlation_id: undefined });
    expect(Object.keys(envelope)).toEqual(['error', 'code', 'message', 'details', 'request_id']);
  });
});
