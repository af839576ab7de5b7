import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../../kernel/config.ts';
import { ERRORS, refusal } from '../../kernel/errors.ts';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Answers only to names it knows. A page that points its own name at this machine (DNS rebinding) sends that name as
 * Host, and a page elsewhere sends its Origin; both are refused before anything else is looked at.
 */
export function createOriginGuard(config: Config): (headers: IncomingHttpHeaders) => void {
  const boundTo = (config.host.includes(':') ? `[${config.host}]` : config.host).toLowerCase();
  const hosts = new Set([...LOOPBACK, boundTo, ...config.allowed_hosts.map((host) => host.toLowerCase())]);
  const origins = new Set(config.allowed_origins.map((origin) => origin.toLowerCase()));
  return (headers) => {
    const host = headers.host?.toLowerCase();
    if (host === undefined || !isKnownHost(host, hosts)) {
      throw refusal('HOST_NOT_ALLOWED', `This hub does not answer to that host name. ${ERRORS.HOST_NOT_ALLOWED.next}`);
    }
    const origin = headers.origin?.toLowerCase();
    if (origin === undefined || origins.has(origin)) return;
    if (origin !== `http://${host}` && origin !== `https://${host}`) {
      throw refusal(
        'ORIGIN_NOT_ALLOWED',
        `Pages from that origin may not call this hub. ${ERRORS.ORIGIN_NOT_ALLOWED.next}`,
      );
    }
  };
}

function isKnownHost(host: string, allowed: ReadonlySet<string>): boolean {
  return allowed.has(host) || allowed.has(host.replace(/:\d+$/, ''));
}

export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host) || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
