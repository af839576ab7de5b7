import { describe, expect, it } from 'vitest';
import { credentialsFrom, SESSION_COOKIE } from '../../src/surfaces/http/credentials.ts';
import { correlationIdFrom, requestIdFrom } from '../../src/surfaces/http/request-ids.ts';

describe('the credentials of a request', () => {
  it.each(['Bearer flw_abc', 'bearer flw_abc', 'BEARER   flw_abc'])('are a bearer token: %s', (authorization) => {
    expect(credentialsFrom({ authorization })).toEqual({ secret: 'flw_abc', purpose: 'bearer' });
  });

  it.each(['Bearer', 'Bearer ', 'Basic flw_abc', 'flw_abc', 'Bearer a b', 'Bearer\tflw_abc', 'XBearer a', ''])(
    'are none in the header %j',
    (authorization) => {
      expect(credentialsFrom({ authorization })).toBeNull();
    },
  );

  it.each([
    `${SESSION_COOKIE}=flws_abc`,
    `theme=dark; ${SESSION_COOKIE}=flws_abc; other=1`,
    `theme=dark;${SESSION_COOKIE}=flws_abc`,
  ])('are a session cookie: %s', (cookie) => {
    expect(credentialsFrom({ cookie })).toEqual({ secret: 'flws_abc', purpose: 'session' });
  });

  it.each(['theme=dark', `x${SESSION_COOKIE}=flws_abc`, SESSION_COOKIE, '', ';;='])(
    'are none in the cookies %j',
    (cookie) => {
      expect(credentialsFrom({ cookie })).toBeNull();
    },
  );

  it('are those of the token where both are sent, even when it is malformed', () => {
    const cookie = `${SESSION_COOKIE}=flws_abc`;
    expect(credentialsFrom({ cookie, authorization: 'Bearer flw_abc' })?.purpose).toBe('bearer');
    expect(credentialsFrom({ cookie, authorization: 'Basic x' })).toBeNull();
  });

  it('are none where nothing is sent', () => {
    expect(credentialsFrom({})).toBeNull();
  });
});

describe('the ids of a request', () => {
  it('are the client’s own where they are short and plain', () => {
    expect(requestIdFrom({ 'x-request-id': 'My.id:1_a-b' })).toBe('My.id:1_a-b');
    expect(correlationIdFrom({ 'x-correlation-id': 'trace-1' })).toBe('trace-1');
  });

  it.each(['', 'a b', 'a\r\nset-cookie: x=1', '<script>', 'a'.repeat(129), 'one, two'])('are not %j', (given) => {
    expect(requestIdFrom({ 'x-request-id': given })).toMatch(/^[0-9a-f-]{36}$/);
    expect(correlationIdFrom({ 'x-correlation-id': given })).toBeUndefined();
  });

  it('are new each time where none are sent', () => {
    expect(requestIdFrom({})).not.toBe(requestIdFrom({}));
    expect(correlationIdFrom({})).toBeUndefined();
  });

  it('are not a list', () => {
    expect(requestIdFrom({ 'x-request-id': ['a', 'b'] })).toMatch(/^[0-9a-f-]{36}$/);
  });
});
