export { connect } from './connect.ts';
export type { Database, DialectName, Queries, Trx } from './database.ts';
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
export { bumpRevision, createFreshness, type Freshness, Kept } from './freshness.ts';
export { type MigrationStatus, migrate, migrationStatus } from './migrate.ts';
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
export { takeTurns } from './turns.ts';
