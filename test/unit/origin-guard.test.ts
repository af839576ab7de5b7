import { describe, expect, it } from 'vitest';
import { resolveConfig } from '../../src/kernel/config.ts';
import { createOriginGuard, isLoopback } from '../../src/surfaces/http/origin-guard.ts';

/** The code of the refusal, or `let in`. */
function judge(headers: { host?: string; origin?: string }, file: Record<string, unknown> = {}): string {
  const guard = createOriginGuard(resolveConfig({ file }).config);
  try {
    guard(headers);
    return 'let in';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('[FLR-host-origin] the Host header', () => {
  it.each(['127.0.0.1', '127.0.0.1:7480', 'localhost:7480', 'LOCALHOST', '[::1]:7480', '[::1]'])(
    '%s is known',
    (host) => {
      expect(judge({ host })).toBe('let in');
    },
  );

  it.each([
    'evil.example',
    'evil.example:7480',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example#localhost',
    'localhost@evil.example',
    '127.0.0.2',
    '0.0.0.0:7480',
    '169.254.169.254',
    'localhost:',
    ' localhost',
    '',
  ])('%j is not', (host) => {
    expect(judge({ host })).toBe('HOST_NOT_ALLOWED');
  });

  it('is needed', () => {
    expect(judge({})).toBe('HOST_NOT_ALLOWED');
  });

  it('may be a name from allowed_hosts, with any port or with the one given', () => {
    const file = { allowed_hosts: ['Flows.Example', 'other.example:8443'] };
    expect(judge({ host: 'flows.example' }, file)).toBe('let in');
    expect(judge({ host: 'FLOWS.example:443' }, file)).toBe('let in');
    expect(judge({ host: 'other.example:8443' }, file)).toBe('let in');
    expect(judge({ host: 'other.example:9999' }, file)).toBe('HOST_NOT_ALLOWED');
    expect(judge({ host: 'sub.flows.example' }, file)).toBe('HOST_NOT_ALLOWED');
  });

  it.each([
    ['192.168.1.5', '192.168.1.5:7480'],
    ['flows.example', 'flows.example:7480'],
    ['Flows.Example', 'flows.example:7480'],
    ['fd00::5', '[fd00::5]:7480'],
  ])('may be the address the hub listens on: %s as %s', (host, header) => {
    expect(judge({ host: header }, { host })).toBe('let in');
  });
});

describe('[FLR-host-origin] the Origin header', () => {
  const host = '127.0.0.1:7480';

  it.each([undefined, 'http://127.0.0.1:7480', 'https://127.0.0.1:7480', 'HTTP://127.0.0.1:7480'])(
    'may be %s',
    (origin) => {
      expect(judge(origin === undefined ? { host } : { host, origin })).toBe('let in');
    },
  );

  it.each([
    'http://evil.example',
    'null',
    '',
    'http://127.0.0.1',
    'http://127.0.0.1:7481',
    'http://localhost:7480',
    'http://127.0.0.1:7480.evil.example',
    'http://127.0.0.1:7480/',
    'file://127.0.0.1:7480',
  ])('may not be %j', (origin) => {
    expect(judge({ host, origin })).toBe('ORIGIN_NOT_ALLOWED');
  });

  it('may be one from allowed_origins, exactly', () => {
    const file = { allowed_origins: ['https://Studio.example'] };
    expect(judge({ host, origin: 'https://studio.example' }, file)).toBe('let in');
    expect(judge({ host, origin: 'http://studio.example' }, file)).toBe('ORIGIN_NOT_ALLOWED');
    expect(judge({ host, origin: 'https://studio.example:8443' }, file)).toBe('ORIGIN_NOT_ALLOWED');
  });

  it('does not make up for a wrong host', () => {
    expect(judge({ host: 'evil.example', origin: 'http://evil.example' })).toBe('HOST_NOT_ALLOWED');
  });
});

describe('a loopback address', () => {
  it.each(['127.0.0.1', '127.8.9.1', 'localhost', '::1', '[::1]'])('is %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(['0.0.0.0', '::', '192.168.1.5', '127.0.0.1.evil.example', '', '127'])('is not %j', (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});
