const SECRET_NAME = /(token|secret|password|passphrase|api[-_]?key|authorization|cookie|oauth|private[-_]?key|bearer)/i;
const SECRET_SHAPES = [
  /\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9]{16,}/,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/,
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

/** A URL fit for people and logs: the password is hidden, the rest stays. */
export function hideUrlPassword(url: string): string {
  return url.replace(/(:\/\/[^/\s:@]+):[^/\s@]+@/, `$1:${REDACTED}@`);
}
