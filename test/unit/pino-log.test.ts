import { Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPinoLog } from '../../src/kernel/pino-log.ts';

const HIDDEN = 'hunter2-must-not-appear';

function recorder(level = 'info') {
  const written: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      written.push(String(chunk));
      done();
    },
  });
  return {
    log: createPinoLog(level, stream),
    text: () => written.join(''),
    line: () => JSON.parse(written[0] ?? 'null'),
  };
}

const secretName = fc.constantFrom(
  'token',
  'hub_token',
  'accessToken',
  'client_secret',
  'PASSWORD',
  'passphrase',
  'api-key',
  'apiKey',
  'Authorization',
  'set-cookie',
  'oauth_ref',
  'privateKey',
  'bearer',
);
/** How a value gets wrapped on its way into a field. */
const wrapping = fc.array(
  fc.constantFrom<(value: unknown) => unknown>(
    (value) => [value],
    (value) => ({ inner: value }),
    (value) => ({ list: [1, value], other: true }),
  ),
  { maxLength: 9 },
);

describe('[FLR-log-redaction] the log of the hub', () => {
  it('is one line of JSON with level, time, message and fields', () => {
    const { log, line, text } = recorder();
    log.info({ request_id: 'r1', count: 2 }, 'a request was answered');
    expect(text().endsWith('\n')).toBe(true);
    expect(line()).toMatchObject({ level: 30, msg: 'a request was answered', request_id: 'r1', count: 2 });
    expect(Date.parse(line().time)).not.toBeNaN();
  });

  it('hides what is named like a secret, whatever kind of value it is', () => {
    const { log, line, text } = recorder();
    log.warn({ token: HIDDEN, authorization: { scheme: HIDDEN }, cookies: [HIDDEN], user: 'anna' }, 'x');
    expect(line()).toMatchObject({ token: '[secret]', authorization: '[secret]', cookies: '[secret]', user: 'anna' });
    expect(text()).not.toContain(HIDDEN);
  });

  // A secret-named field never reaches the log, however deep it lies in objects and lists.
  it('hides it at any depth', () => {
    fc.assert(
      fc.property(secretName, wrapping, (name, wraps) => {
        const { log, text } = recorder();
        const value = wraps.reduce<unknown>((inner, wrap) => wrap(inner), { [name]: HIDDEN, kept: 'kept' });
        log.error({ value }, 'x');
        expect(text()).not.toContain(HIDDEN);
        expect(text()).toContain('"msg":"x"');
      }),
    );
  });

  it('writes an error with its stack and without its other fields', () => {
    const { log, line, text } = recorder();
    const error = Object.assign(new TypeError('it broke'), { token: HIDDEN, config: { headers: { a: HIDDEN } } });
    log.error({ cause: error }, 'x');
    expect(line().cause).toMatchObject({ name: 'TypeError', message: 'it broke' });
    expect(line().cause.stack).toContain('pino-log.test.ts');
    expect(text()).not.toContain(HIDDEN);
  });

  it('survives an object that contains itself', () => {
    const { log, text } = recorder();
    const loop: Record<string, unknown> = { password: HIDDEN };
    loop.self = loop;
    log.info({ loop }, 'x');
    expect(text()).toContain('[deep]');
    expect(text()).not.toContain(HIDDEN);
  });

  it('leaves the given fields as they were', () => {
    const fields = { token: HIDDEN };
    recorder().log.info(fields, 'x');
    expect(fields).toEqual({ token: HIDDEN });
  });

  it('still shows a time', () => {
    const { log, line } = recorder();
    log.info({ at: new Date(0) }, 'x');
    expect(line().at).toBe('1970-01-01T00:00:00.000Z');
  });

  it('writes only what its level asks for', () => {
    const { log, text } = recorder('warn');
    log.info({}, 'too quiet');
    log.warn({}, 'loud enough');
    expect(text()).not.toContain('too quiet');
    expect(text()).toContain('loud enough');
    const silent = recorder('silent');
    silent.log.error({}, 'x');
    expect(silent.text()).toBe('');
  });
});
