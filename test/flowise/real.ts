import { createKey } from '../../scripts/flowise/bootstrap.mjs';
import { startModelServer } from '../../scripts/flowise/model-server.mjs';
import type { Target } from './target.ts';

const { FLOWISE_API_URL, FLOWISE_API_KEY, FLOWISE_2_API_URL, FLOWISE_2_API_KEY, FLOWISE_MODEL_URL } = process.env;

export const HAS_REAL = Boolean(FLOWISE_API_URL && FLOWISE_API_KEY);
export const HAS_SECOND = HAS_REAL && Boolean(FLOWISE_2_API_URL && FLOWISE_2_API_KEY);

export const WHAT_IS_MISSING = `Skipped: no Flowise to test against. Set FLOWISE_API_URL and FLOWISE_API_KEY (and FLOWISE_2_API_URL and
FLOWISE_2_API_KEY for promotions), or let everything be started for you:
  scripts/flowise/live.sh DIR     (installs Flowise 3.1.4 into DIR once: some minutes, 2.7 GB)`;

export interface RealServers {
  first: Target;
  /** To promote to. */
  second: Target | null;
  stop(): Promise<void>;
}

/** The named servers, and a scripted model of our own where none is named. */
export async function realServers(): Promise<RealServers> {
  const model = FLOWISE_MODEL_URL ? null : await startModelServer();
  const modelUrl = FLOWISE_MODEL_URL ?? model?.url ?? '';
  return {
    first: targetAt(FLOWISE_API_URL ?? '', FLOWISE_API_KEY ?? '', modelUrl),
    second: HAS_SECOND ? targetAt(FLOWISE_2_API_URL ?? '', FLOWISE_2_API_KEY ?? '', modelUrl) : null,
    stop: async () => model?.close(),
  };
}

function targetAt(address: string, apiKey: string, modelUrl: string): Target {
  const url = address.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  return { url, apiKey, modelUrl, keyWith: (permissions) => createKey(url, permissions) };
}
