import { join, resolve } from 'node:path';
import type { Config } from '../kernel/config.ts';

/** Where what is known of a server is kept. A setting names one folder for all of them. */
export function serverFolder(place: { config: Config; schemasDir: string }, vaultId: string, server: string): string {
  if (place.config.knowledge_schemas_dir !== null) return resolve(place.config.knowledge_schemas_dir);
  // Neither vaults nor servers have ~ in their names.
  return join(place.schemasDir, vaultId === 'default' ? server : `${vaultId}~${server}`);
}

/** A server as meta files name it: without credentials, query or closing slash. */
export function sourceHost(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}
