import type { Selectable } from 'kysely';
import type { Attachment } from '../../attachments/index.ts';
import type { Database, FlowchartRunsTable } from '../../database/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { NodeServices, NodeType } from '../nodes/node-type.ts';
import type { NewRun } from './new-run.ts';

export type RunRow = Selectable<FlowchartRunsTable>;

/** What walking a run needs of the rest of the program. */
export interface WalkServices {
  database: Database;
  clock: Clock;
  log: Log;
  nodeTypes: ReadonlyMap<string, NodeType>;
  nodeServices: NodeServices;
  /** The files of these numbers that the vault has. */
  findAttachments(vaultId: string, ids: readonly number[]): Promise<Attachment[]>;
  /** A subflow as it would run now; throws a NodeFailure where it cannot. */
  planChild(run: RunRow, nodeRunId: number, flowchartId: number, input: unknown): Promise<NewRun>;
  /** After each commit, with the runs that want attention because of it. */
  committed(runId: number, woken: readonly number[]): void;
}
