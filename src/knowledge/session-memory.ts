import { asFlowrightError } from '../kernel/errors.ts';
import { isSecretShaped, REDACTED } from '../kernel/secrets.ts';
import { inertLine } from '../kernel/terminal.ts';
import type { KnowledgeWarning, RepairEvent } from './port.ts';
import type { SnapshotKind } from './snapshot-file.ts';
import type { StoreContext } from './store-context.ts';

/** What one session of work remembers, so that it asks nothing twice. */
export interface SessionMemory {
  /** Snapshots that this session has looked at: each is checked once, when first used. */
  readonly begun: Set<SnapshotKind>;
  /** Lists that could not be fetched. */
  readonly failed: Set<SnapshotKind>;
  readonly missingNodes: Set<string>;
  readonly missingCredentials: Set<string>;
  readonly events: RepairEvent[];
  readonly warnings: KnowledgeWarning[];
}

export function newMemory(): SessionMemory {
  return {
    begun: new Set(),
    failed: new Set(),
    missingNodes: new Set(),
    missingCredentials: new Set(),
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

/** Why something could not be had, without what the server said. */
export function codeOf(thrown: unknown): KnowledgeWarning['code'] {
  return asFlowrightError(thrown).code;
}
