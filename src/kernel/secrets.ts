const SECRET_NAME = /(token|secret|password|passphrase|api[-_]?key|authorization|cookie|oauth|private[-_]?key|bearer)/i;
/** How credentials look that tell by themselves what they are. Each stops before what cannot be part of it. */
export const SECRET_SHAPES: readonly RegExp[] = [
  /\b(?:sk|pk|rk)[-_](?:[a-z0-9]{2,8}[-_]){0,3}[A-Za-z0-9_-]{16,}/,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/,
  /\bxox[abeprs](?:[-.][A-Za-z0-9]+){0,4}-[A-Za-z0-9-]{10,}/,
  /\bxapp-[A-Za-z0-9-]{20,}/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  /\bya29\.[A-Za-z0-9_-]{20,}/,
  /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/,
  /\b(?:hf|gsk|npm|ntn|pcsk|whsec|secret|r8|shp(?:at|ca|pa|ss)|dop_v1|figd|lsv2_[ps][tk])_(?=[A-Za-z_]*\d)[A-Za-z0-9]{20,}(?:_[A-Za-z0-9]{8,})?/,
  /\b(?:glpat|pplx|nvapi|tvly|xai|fc|pat|jina)[-_](?:dev-|prod-)?(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}[A-Za-z0-9_-]*/,
  /\bnvapi-[A-Za-z0-9_-]{40,}/,
  /\bATATT3[A-Za-z0-9_=-]{30,}/,
  /\bhooks\.slack\.com\/services\/[A-Za-z0-9]+\/[A-Za-z0-9]+\/[A-Za-z0-9]{16,}/,
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
