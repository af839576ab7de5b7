import { randomUUID } from 'node:crypto';
import type { Request } from './requests.ts';
import { isFromFlowise, serverWords } from './server-words.ts';
import type { Answer } from './transport.ts';

/** A permission of Flowise 3 to change something. */
export type WriteTrial = 'chatflows:create' | 'chatflows:update' | 'chatflows:delete' | 'tools:create' | 'tools:delete';

/**
 * Requests that change nothing: they name a thing that nobody has, or lack what no database lets be missing. Flowise
 * looks at the permission first, so how it refuses them tells whether the key has it.
 */
export function trialRequest(what: WriteTrial): Request {
  switch (what) {
    case 'chatflows:create':
      return { method: 'POST', route: '/chatflows', body: { name: null, flowData: null, type: 'NONE' } };
    case 'chatflows:update':
      return { method: 'PUT', route: `/chatflows/${randomUUID()}`, body: {} };
    case 'chatflows:delete':
      return { method: 'DELETE', route: `/chatflows/${randomUUID()}` };
    case 'tools:create':
      return { method: 'POST', route: '/tools', body: { name: null, description: null, color: null } };
    case 'tools:delete':
      return { method: 'DELETE', route: `/tools/${randomUUID()}` };
  }
}

/** Flowise itself came to look at what was asked, and found nothing to do. */
export function isPastTheGuard(answer: Answer): boolean {
  const { status } = answer;
  if (status === 404 && /^chatflow not found$/i.test(serverWords(answer).trim())) return true;
  return isFromFlowise(answer) && (status === 400 || status === 404 || status === 412 || status === 500);
}
