import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createClient } from '../../src/flowise/client/create-client.ts';
import { type Config, resolveConfig } from '../../src/kernel/config.ts';
import type { Log } from '../../src/kernel/log.ts';
import { FlowiseKnowledgeProvider, normaliseNode, type SnapshotKind, sourceHost } from '../../src/knowledge/index.ts';
import { readSnapshot, snapshotPaths } from '../../src/knowledge/snapshot-file.ts';
import { updateSnapshot } from '../../src/knowledge/snapshot-update.ts';
import type { StoreContext } from '../../src/knowledge/store-context.ts';
import { type FakeFlowiseOptions, recordedNodes, useFakeFlowise } from './fake-flowise/index.ts';
import { tempFolder } from './home.ts';

/** What the program is taken to come with. */
export const BASELINE_NODES = ['chatOpenAI', 'pinecone', 'bufferMemory', 'conversationChain', 'searchApi', 'searchAPI'];
export const STARTED = '2026-03-01T12:00:00.000Z';

export interface LogLine {
  level: 'info' | 'warn' | 'error';
  message: string;
  fields: Record<string, unknown>;
}

/** A log that remembers, and a clock that stands still until it is moved. */
export function recordingLog(): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (level: LogLine['level']) => (fields: Record<string, unknown>, message: string) => {
    lines.push({ level, message, fields });
  };
  return { lines, log: { info: write('info'), warn: write('warn'), error: write('error') } };
}

export function movingClock() {
  let time = Date.parse(STARTED);
  return {
    now: () => new Date(time),
    pass: (seconds: number) => {
      time += seconds * 1_000;
    },
  };
}

/** A fake Flowise, its folder, and a baseline of a few nodes; every provider is a process of its own. */
export async function knowledgeScene(options: FakeFlowiseOptions & Partial<StoreContext> = {}) {
  const fake = await useFakeFlowise(options);
  const root = tempFolder();
  const folder = join(root, 'schemas', 'main');
  const baselineDir = join(root, 'baseline');
  await writeBaseline(baselineDir);
  const { log, lines } = recordingLog();
  const clock = movingClock();
  const client = createClient({
    server: 'main',
    url: fake.url,
    auth: { kind: 'key', key: fake.apiKey },
    timeoutSeconds: 5,
    retryDelayMs: 1,
  });
  onTestFinished(() => client.close());
  const host = sourceHost(client.url);
  const context: StoreContext = {
    folder,
    baselineDir,
    host,
    client,
    clock,
    log,
    repairLog: true,
    credentialTtlSeconds: 3_600,
    templateTtlSeconds: 86_400,
    ...options,
  };
  return {
    fake,
    folder,
    baselineDir,
    lines,
    clock,
    host,
    context,
    provider: (changes: Partial<StoreContext> = {}) => new FlowiseKnowledgeProvider({ ...context, ...changes }),
    read: (kind: SnapshotKind) => readSnapshot(folder, kind, host),
    bytes: (kind: SnapshotKind) => {
      const { snapshot, meta } = snapshotPaths(folder, kind);
      return { snapshot: readFileSync(snapshot, 'utf8'), meta: readFileSync(meta, 'utf8') };
    },
  };
}

export async function writeBaseline(folder: string, nodeTypes: readonly string[] = BASELINE_NODES): Promise<void> {
  const nodes = recordedNodes().filter(({ name }) => nodeTypes.includes(name));
  await updateSnapshot(folder, 'flowise_nodes', () => ({
    items: nodes.map(normaliseNode),
    generated_at: STARTED,
    source: 'reference',
    source_host: null,
    flowise_version: '3.1.4',
  }));
}

export function defaultConfig(): Config {
  return resolveConfig({}).config;
}
