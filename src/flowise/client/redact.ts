import { isSecretShaped, REDACTED } from '../../kernel/secrets.ts';
import { inertLine } from '../../kernel/terminal.ts';

const MAX_WORDS = 300;
/** Text beyond this is never looked at: patterns over megabytes of somebody else's text take time. */
const MAX_LOOK = 8_192;

const NAMED_SECRET =
  /([\w-]{0,40}(?:api[-_ ]?key|token|secret|password|passphrase|authorization|cookie|credential)[\w-]{0,40}["'`]?\s{0,4}[:=]\s{0,4}["'`]?)(?:(?:bearer|basic)\s+)?[^\s"'`,;&}\]]+/gi;
const BEARER = /\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi;

/** A server's own words, fit for errors and logs: one short line without anything that is or looks like a secret. */
export function quotable(text: string, secrets: readonly string[]): string {
  let quoted = text.slice(0, MAX_LOOK);
  for (const secret of secrets) {
    if (secret === '') continue;
    for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
      quoted = quoted.replaceAll(form, REDACTED);
    }
  }
  quoted = quoted
    .replace(NAMED_SECRET, `$1${REDACTED}`)
    .replace(BEARER, `$1 ${REDACTED}`)
    .replace(/[^\s"'`<>(){},;]+/g, (word) => (word !== REDACTED && isSecretShaped(word) ? REDACTED : word));
  const line = inertLine(quoted).replace(/\s+/g, ' ').trim();
  return line.length <= MAX_WORDS ? line : `${cut(line, MAX_WORDS - 1)}…`;
}

/** Not through the middle of a character. */
function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
