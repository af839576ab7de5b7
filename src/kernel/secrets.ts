const SECRET_NAME = /(token|secret|password|passphrase|api[-_]?key|authorization|cookie|oauth|private[-_]?key|bearer)/i;
const SECRET_SHAPES = [
  /\b(?:sk|pk|rk)[-_](?:[a-z0-9]{2,8}[-_]){0,3}[A-Za-z0-9_-]{16,}/,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\./,
  /\bflw[a-z]?_[A-Za-z0-9_-]{32,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /:\/\/[^/\s:@]+:[^/\s@]+@/,
];

export const REDACTED = '[secret]';

/** Does a field's name say that its value is a secret? */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Does a value look like a credential, whatever its field is called? */
export function isSecretShaped(value: string): boolean {
  return SECRET_SHAPES.some((shape) => shape.test(value));
}

/** A URL fit for people and logs: what stands between user and host, and password parameters, are hidden. */
export function hideUrlPassword(url: string): string {
  const separator = url.indexOf('://');
  if (separator < 0) return url;
  const start = separator + 3;
  const [address = '', ...query] = url.slice(start).split('?');
  const at = address.lastIndexOf('@');
  const colon = address.slice(0, Math.max(at, 0)).indexOf(':');
  const shown = at >= 0 && colon >= 0 ? `${address.slice(0, colon)}:${REDACTED}${address.slice(at)}` : address;
  const parameters = query
    .join('?')
    .replace(/(^|&)([^=&]*)=([^&]*)/g, (whole, before: string, name: string) =>
      isSecretName(name) ? `${before}${name}=${REDACTED}` : whole,
    );
  return url.slice(0, start) + shown + (query.length > 0 ? `?${parameters}` : '');
}
