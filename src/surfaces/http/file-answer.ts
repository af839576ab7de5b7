import type { FastifyRequest } from 'fastify';
import type { RawAnswer } from '../../operations/index.ts';

/** A client that takes JSON and nothing else gets the payload, as at every other door. */
export function wantsFile(request: FastifyRequest): boolean {
  return !/^\s*application\/json\s*(;[^,]*)?$/i.test(request.headers.accept ?? '');
}

/**
 * Files come from anybody who may upload. They are sent to be saved: no browser shows one as a page of the hub, guesses
 * another type for it, or runs what it holds.
 */
export function fileHeaders({ content_type, file_name }: RawAnswer): Record<string, string> {
  return {
    'content-type': content_type,
    'content-disposition': `attachment; filename="${plainName(file_name)}"; filename*=UTF-8''${encodedName(file_name)}`,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    vary: 'Accept',
  };
}

/** For clients that know no other: everything that could end the quotes or the header is replaced. */
function plainName(name: string): string {
  return name.replace(/[^A-Za-z0-9 ._()+-]/g, '_');
}

function encodedName(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
