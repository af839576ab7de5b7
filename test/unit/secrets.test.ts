import { describe, expect, it } from 'vitest';
import { newSecret } from '../../src/kernel/ids.ts';
import { hideUrlPassword, isSecretName, isSecretShaped } from '../../src/kernel/secrets.ts';

/** Put together here, so that no scanner takes this file for a leak. */
const join = (separator: string, ...parts: string[]) => parts.join(separator);
const letters = (count: number) => 'aB3dE6gH9k'.repeat(Math.ceil(count / 10)).slice(0, count);

describe('names that say secret', () => {
  it.each([
    'token',
    'access_token',
    'refreshToken',
    'TOKEN',
    'secret',
    'client_secret',
    'password',
    'passphrase',
    'api_key',
    'api-key',
    'apiKey',
    'authorization',
    'Cookie',
    'set-cookie',
    'oauth_ref',
    'private_key',
    'bearer',
  ])('%s does', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each(['title', 'key', 'flow_id', 'request_id', 'summary', 'path', 'user_id', 'monkey'])('%s does not', (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe('values that look like credentials', () => {
  it.each([
    ['a model provider key', join('-', 'sk', letters(40))],
    ['a project key', join('-', 'sk', 'proj', letters(40))],
    ['a payment key', join('_', 'sk', 'live', letters(24))],
    ['a model provider key with a version', join('-', 'sk', 'ant', 'api03', letters(90))],
    ['a code host token', join('_', 'ghp', letters(36))],
    ['a fine-grained code host token', join('_', 'github', 'pat', letters(22), letters(59))],
    ['a chat token', join('-', 'xoxb', '123456789012', letters(24))],
    ['a cloud key id', `AKIA${letters(16).toUpperCase()}`],
    ['a web token', join('.', `eyJ${letters(20)}`, `eyJ${letters(40)}`, letters(43))],
    ['a private key', join(' ', '-----BEGIN', 'RSA', 'PRIVATE', 'KEY-----')],
    ['an address with a password', join('', 'postgres://user:', letters(8), '@db.example/flowright')],
    ['a credential inside other text', `use ${join('_', 'ghp', letters(36))} here`],
  ])('%s', (_, value) => {
    expect(isSecretShaped(value)).toBe(true);
  });

  it.each(['flw', 'flws', 'flwc'])('our own secrets that start with %s', (prefix) => {
    for (let round = 0; round < 50; round += 1) expect(isSecretShaped(newSecret(prefix))).toBe(true);
  });

  it.each([
    'knowtation propose --intent capture_to_note --source agent',
    'resume-session',
    'flow_capture_to_note#1',
    'https://example.org/a/b?c=d',
    'postgres://db.example:5432/flowright',
    'docs/ROADMAP.md',
    'task-sk-list',
  ])('%s is only a handle', (value) => {
    expect(isSecretShaped(value)).toBe(false);
  });
});

describe('an address for people', () => {
  it('keeps everything but the password', () => {
    expect(hideUrlPassword('postgres://anna:hunter2@db.example:5432/flowright?sslmode=require')).toBe(
      'postgres://anna:[secret]@db.example:5432/flowright?sslmode=require',
    );
  });

  it.each(['postgres://db.example/flowright', 'postgres://anna@db.example/flowright', '/var/run/postgresql'])(
    'leaves %s as it is',
    (url) => {
      expect(hideUrlPassword(url)).toBe(url);
    },
  );

  it.each([
    ['without a user name', 'postgres://:hunter2@db.example/flowright'],
    ['with an @ in the password', 'postgres://anna:top@hunter2@db.example/flowright'],
    ['with a colon in the password', 'postgres://anna:top:hunter2@db.example/flowright'],
    ['with a slash in the password', 'postgres://anna:top/hunter2@db.example/flowright'],
    ['with the password as a parameter', 'postgres://db.example/flowright?user=anna&password=hunter2'],
  ])('hides the password %s', (_, url) => {
    expect(hideUrlPassword(url)).not.toContain('hunter2');
  });
});
