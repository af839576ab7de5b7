import type { Generated } from 'kysely';

export type RunStatus =
  | 'queued'
  | 'running'
  | 'pausing'
  | 'paused'
  | 'stopping'
  | 'stopped'
  | 'completed'
  | 'failed'
  | 'canceled';
export type NodeRunStatus = 'queued' | 'running' | 'waiting' | 'succeeded' | 'failed' | 'canceled';
export type EdgeMode = 'solid' | 'dotted' | 'dashed';
export type RetentionMode = 'forever' | 'ttl' | 'max_count' | 'ttl_max_count';

interface Stamped {
  created_at: string;
  updated_at: string;
}

export interface FlowchartsTable extends Stamped {
  id: Generated<number>;
  vault_id: string;
  name: string;
  description: string | null;
  max_node_executions: number | null;
  max_runtime_minutes: number | null;
  max_parallel_nodes: number;
  /** Newest row of flowchart_versions. */
  graph_version: number;
}

/** The nodes of the newest graph version, and those removed from it: history still speaks of them. */
export interface FlowchartNodesTable extends Stamped {
  id: Generated<number>;
  flowchart_id: number;
  node_type: string;
  ref_id: number | null;
  title: string | null;
  x: number;
  y: number;
  config_json: string | null;
  mcp_server_ids_json: Generated<string>;
  /** 0: written by something older than the rules of configs, to be migrated at start. */
  config_contract: Generated<number>;
  removed_at: string | null;
}

export interface FlowchartEdgesTable extends Stamped {
  id: Generated<number>;
  flowchart_id: number;
  position: Generated<number>;
  source_node_id: number;
  target_node_id: number;
  source_handle_id: string | null;
  target_handle_id: string | null;
  edge_mode: string | null;
  condition_key: string | null;
  label: string | null;
  control_points_json: string | null;
}

/** A graph as it was saved; runs refer to one of these and never see a later edit. */
export interface FlowchartVersionsTable {
  flowchart_id: number;
  version: number;
  graph_json: string;
  graph_sha256: string;
  created_by: string;
  created_at: string;
}

export interface FlowchartNodeAttachmentsTable {
  flowchart_node_id: number;
  attachment_id: number;
  position: number;
}

export interface AttachmentsTable {
  id: Generated<number>;
  vault_id: string;
  file_name: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  created_by: string;
  created_at: string;
}

export interface FlowchartRunsTable {
  id: Generated<number>;
  vault_id: string;
  flowchart_id: number;
  graph_version: number;
  status: RunStatus;
  entry_node_id: number | null;
  input_json: string | null;
  /** The node run whose output is the run's. */
  output_node_run_id: number | null;
  error: string | null;
  error_code: string | null;
  warnings_json: string;
  trigger_source: 'manual' | 'subflow' | 'loop' | 'replay';
  started_by: string;
  started_as: 'user' | 'agent' | 'local';
  parent_run_id: number | null;
  parent_node_run_id: number | null;
  /** How many subflows deep. */
  depth: number;
  /** How many times the flowchart has come back to its start, this run included. */
  cycle: number;
  follows_run_id: number | null;
  /** The first run of those that follow each other through the start; null before there is a second. */
  chain_run_id: number | null;
  /** Node runs of the runs before it in that chain; limits count them too. */
  executions_before: Generated<number>;
  replayed_from_run_id: number | null;
  replay_action: string | null;
  /** Limits as they were when the run was made. */
  max_node_executions: number | null;
  max_runtime_minutes: number | null;
  max_parallel_nodes: number;
  /** Node runs started, and completed, so far. */
  executions: number;
  completions: number;
  /** Milliseconds during which at least one node was at work. */
  active_ms: number;
  /** The process that walks it, and how often it changed hands: a former owner cannot commit. */
  owner: string | null;
  fence: number;
  /** Raised by whatever the walker should look at: a control request, an answer, a finished subflow. */
  wakes: number;
  request_id: string | null;
  correlation_id: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  updated_at: string;
}

export interface FlowchartRunNodesTable {
  id: Generated<number>;
  flowchart_run_id: number;
  flowchart_node_id: number;
  node_type: string;
  /** Order of activation within the run, from 1. */
  sequence: number;
  /** Which execution of this node within the run, from 1. */
  execution_index: number;
  status: NodeRunStatus;
  /** How many completions the run had when this one started, and its own place among them. */
  started_order: number;
  completed_order: number | null;
  /** A replay takes the output of that node run instead of executing again. */
  reused_from_id: number | null;
  /** References only: which node runs and edges it was given. */
  input_context_json: string;
  output_state_json: string | null;
  routing_state_json: string | null;
  degraded_reason: string | null;
  error: string | null;
  error_code: string | null;
  /** What a waiting node run waits for. */
  wait_json: string | null;
  /** When waiting becomes a failure. */
  wait_until: string | null;
  answer_json: string | null;
  answered_by: string | null;
  answered_at: string | null;
  started_at: string;
  finished_at: string | null;
}

export interface NodeArtifactsTable {
  id: Generated<number>;
  flowchart_id: number;
  flowchart_node_id: number;
  flowchart_run_id: number;
  flowchart_run_node_id: number;
  node_type: string;
  artifact_type: string;
  ref_id: number | null;
  execution_index: number;
  retention_mode: RetentionMode;
  expires_at: string | null;
  /** Null: the one derived from run and node run. */
  request_id: string | null;
  correlation_id: string | null;
  /** Null: made from the node run, whose output it would only repeat. */
  payload_json: string | null;
  created_at: string;
}

export interface RuntimeIdempotencyKeysTable {
  vault_id: string;
  scope: string;
  idempotency_key: string;
  request_sha256: string;
  run_id: number;
  response_json: string;
  first_seen_at: string;
  last_seen_at: string;
  hit_count: number;
}

/** Programs that may own runs. */
export interface ProcessesTable {
  process_id: string;
  host: string;
  pid: number;
  /** When the system started it, in whatever form tells it from another with the same pid. */
  started: string;
  kind: string;
  seen_at: string;
}

export interface MemoriesTable extends Stamped {
  id: Generated<number>;
  vault_id: string;
  title: string | null;
  description: string;
}

export interface PlansTable extends Stamped {
  id: Generated<number>;
  vault_id: string;
  name: string;
  description: string | null;
  completed_at: string | null;
}

export interface PlanStagesTable extends Stamped {
  id: Generated<number>;
  plan_id: number;
  name: string;
  description: string | null;
  position: number;
  completed_at: string | null;
}

export interface PlanTasksTable extends Stamped {
  id: Generated<number>;
  plan_stage_id: number;
  name: string;
  description: string | null;
  position: number;
  completed_at: string | null;
}

export interface MilestonesTable extends Stamped {
  id: Generated<number>;
  vault_id: string;
  name: string;
  description: string | null;
  status: 'planned' | 'in_progress' | 'at_risk' | 'done' | 'archived';
  priority: 'low' | 'medium' | 'high';
  owner: string | null;
  completed: number;
  start_date: string | null;
  due_date: string | null;
  progress_percent: number;
  health: 'green' | 'yellow' | 'red';
  success_criteria: string | null;
  dependencies: string | null;
  links: string | null;
  latest_update: string | null;
}

export interface FlowchartSchema {
  flowcharts: FlowchartsTable;
  flowchart_nodes: FlowchartNodesTable;
  flowchart_edges: FlowchartEdgesTable;
  flowchart_versions: FlowchartVersionsTable;
  flowchart_node_attachments: FlowchartNodeAttachmentsTable;
  flowchart_runs: FlowchartRunsTable;
  flowchart_run_nodes: FlowchartRunNodesTable;
  node_artifacts: NodeArtifactsTable;
  runtime_idempotency_keys: RuntimeIdempotencyKeysTable;
  processes: ProcessesTable;
  attachments: AttachmentsTable;
  memories: MemoriesTable;
  plans: PlansTable;
  plan_stages: PlanStagesTable;
  plan_tasks: PlanTasksTable;
  milestones: MilestonesTable;
}
