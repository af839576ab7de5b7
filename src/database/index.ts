export { connect } from './connect.ts';
export type { Database, DialectName, Queries, Trx } from './database.ts';
export { forgetWords, indexWords, searchWords, type WordEntry, type WordKind, type WordQuery } from './entity-words.ts';
export type {
  AttachmentsTable,
  EdgeMode,
  FlowchartEdgesTable,
  FlowchartNodesTable,
  FlowchartRunNodesTable,
  FlowchartRunsTable,
  FlowchartsTable,
  MemoriesTable,
  MilestonesTable,
  NodeArtifactsTable,
  NodeRunStatus,
  PlanStagesTable,
  PlansTable,
  PlanTasksTable,
  RetentionMode,
  RunStatus,
} from './flowchart-schema.ts';
export type { ChatflowVersionsTable, ChatflowWritesTable, FlowiseServersTable } from './flowise-schema.ts';
export { bumpRevision, createFreshness, type Freshness, Kept } from './freshness.ts';
export { type MigrationStatus, migrate, migrationStatus } from './migrate.ts';
export { nodeUsing } from './node-using.ts';
export { appendEvent, type EventPage, type OutboxEvent, pruneEvents, readEvents } from './outbox.ts';
export { restoreSqlite } from './restore.ts';
export type {
  AuditTable,
  FlowsTable,
  MembershipsTable,
  ProposalCommentsTable,
  ProposalsTable,
  Schema,
  TokensTable,
} from './schema.ts';
export { type Row, rows, type Script, type Statement } from './script.ts';
export { firstInTail, readTail, type TailCursor, type TailPage, tailStart } from './tail.ts';
export { takeTurns } from './turns.ts';
