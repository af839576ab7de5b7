import type { NodeSchema } from '../flowise/index.ts';
import { asFlowrightError } from '../kernel/errors.ts';
import { isSecretShaped, REDACTED } from '../kernel/secrets.ts';
import { inertLine } from '../kernel/terminal.ts';
import type { CredentialAnswer, KnowledgeWarning, RepairEvent } from './port.ts';
import type { SnapshotKind } from './snapshot-file.ts';
import type { StoreContext } from './store-context.ts';

/** What one session of work remembers, so that it asks nothing twice. */
export interface SessionMemory {
  /** Snapshots that this session has looked at: each is checked once, when first used. */
  readonly begun: Set<SnapshotKind>;
  /** Lists that could not be fetched. */
  readonly failed: Set<SnapshotKind>;
  /** By what was not known here; what was not found either is not asked for again. */
  readonly nodeRepairs: Map<string, Promise<NodeSchema | null>>;
  readonly credentialRepairs: Map<string, Promise<CredentialAnswer>>;
  readonly events: RepairEvent[];
  readonly warnings: KnowledgeWarning[];
}

export function newMemory(): SessionMemory {
  return {
    begun: new Set(),
    failed: new Set(),
    nodeRepairs: new Map(),
    credentialRepairs: new Map(),
    events: [],
    warnings: [],
  };
}

const SHOWN_LIMIT = 128;

/** What somebody looked for, fit for events: one line, bounded, and hidden if it looks like a secret in the wrong place. */
export function shownQuery(query: string): string {
  return isSecretShaped(query) ? REDACTED : inertLine(query.slice(0, SHOWN_LIMIT));
}

/** Told to the session and to the log, once. */
export function warn(context: StoreContext, memory: SessionMemory | null, warning: KnowledgeWarning): void {
  if (memory?.warnings.some(({ message }) => message === warning.message)) return;
  memory?.warnings.push(warning);
  context.log.warn({ code: warning.code, server: context.client.server }, `[knowledge] ${warning.message}`);
}

/** What was begun under that name in this session, else begun now. */
export function once<T>(begun: Map<string, Promise<T>>, name: string, begin: () => Promise<T>): Promise<T> {
  const known = begun.get(name);
  if (known) return known;
  const started = begin();
  begun.set(name, started);
  return started;
}

/** Why something could not be had, without what the server said. */
export function codeOf(thrown: unknown): KnowledgeWarning['code'] {
  return asFlowrightError(thrown).code;
}
