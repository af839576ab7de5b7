/**
 * Sent with every answer. Pages run no script and load nothing from elsewhere. A constant table: the plugin that is
 * usual for this builds the same values anew for each request, which halves the throughput of the whole hub.
 * HSTS is the business of whatever terminates TLS in front.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
