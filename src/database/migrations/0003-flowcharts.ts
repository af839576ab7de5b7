import type { DialectName } from '../database.ts';

/** Flowcharts, their runs and artifacts, and what nodes remember: memories, plans, milestones, attachments. */
export function flowcharts(dialect: DialectName): string[] {
  const text = dialect === 'postgres' ? 'text collate "C"' : 'text';
  const integer = dialect === 'postgres' ? 'bigint' : 'integer';
  const real = dialect === 'postgres' ? 'double precision' : 'real';
  const identity =
    dialect === 'postgres' ? 'bigint generated always as identity primary key' : 'integer primary key autoincrement';
  const stamps = 'created_at text not null, updated_at text not null';
  const vault = `vault_id ${text} not null references vaults (vault_id)`;
  return [
    `create table flowcharts (
      id ${identity},
      ${vault},
      name text not null,
      description text,
      max_node_executions ${integer},
      max_runtime_minutes ${integer},
      max_parallel_nodes ${integer} not null,
      graph_version ${integer} not null,
      ${stamps}
    )`,
    'create index flowcharts_by_vault on flowcharts (vault_id, id)',
    `create table flowchart_nodes (
      id ${identity},
      flowchart_id ${integer} not null references flowcharts (id) on delete cascade,
      node_type text not null,
      ref_id ${integer},
      title text,
      x ${real} not null,
      y ${real} not null,
      config_json text,
      mcp_server_ids_json text not null default '[]',
      config_contract ${integer} not null default 0,
      removed_at text,
      ${stamps}
    )`,
    'create index flowchart_nodes_by_flowchart on flowchart_nodes (flowchart_id, id)',
    'create index flowchart_nodes_by_ref on flowchart_nodes (node_type, ref_id) where ref_id is not null',
    'create index flowchart_nodes_to_migrate on flowchart_nodes (id) where config_contract = 0',
    `create table flowchart_edges (
      id ${identity},
      flowchart_id ${integer} not null references flowcharts (id) on delete cascade,
      position ${integer} not null default 0,
      source_node_id ${integer} not null,
      target_node_id ${integer} not null,
      source_handle_id text,
      target_handle_id text,
      edge_mode text,
      condition_key text,
      label text,
      control_points_json text,
      ${stamps}
    )`,
    'create index flowchart_edges_by_flowchart on flowchart_edges (flowchart_id, id)',
    `create table flowchart_versions (
      flowchart_id ${integer} not null references flowcharts (id) on delete cascade,
      version ${integer} not null,
      graph_json text not null,
      graph_sha256 text not null,
      created_by ${text} not null,
      created_at text not null,
      primary key (flowchart_id, version)
    )`,
    `create table attachments (
      id ${identity},
      ${vault},
      file_name text not null,
      content_type text not null,
      size_bytes ${integer} not null,
      sha256 ${text} not null,
      created_by ${text} not null,
      created_at text not null
    )`,
    'create index attachments_by_vault on attachments (vault_id, id)',
    'create index attachments_by_content on attachments (vault_id, sha256)',
    `create table flowchart_node_attachments (
      flowchart_node_id ${integer} not null references flowchart_nodes (id) on delete cascade,
      attachment_id ${integer} not null references attachments (id),
      position ${integer} not null,
      primary key (flowchart_node_id, attachment_id)
    )`,
    'create index flowchart_node_attachments_by_file on flowchart_node_attachments (attachment_id)',
    `create table flowchart_runs (
      id ${identity},
      ${vault},
      flowchart_id ${integer} not null references flowcharts (id) on delete cascade,
      graph_version ${integer} not null,
      status ${text} not null check (status in
        ('queued', 'running', 'pausing', 'paused', 'stopping', 'stopped', 'completed', 'failed', 'canceled')),
      entry_node_id ${integer},
      input_json text,
      output_node_run_id ${integer},
      error text,
      error_code text,
      warnings_json text not null,
      trigger_source text not null,
      started_by ${text} not null,
      started_as text not null,
      parent_run_id ${integer},
      parent_node_run_id ${integer},
      depth ${integer} not null,
      cycle ${integer} not null,
      follows_run_id ${integer},
      replayed_from_run_id ${integer},
      replay_action text,
      max_node_executions ${integer},
      max_runtime_minutes ${integer},
      max_parallel_nodes ${integer} not null,
      executions ${integer} not null,
      completions ${integer} not null,
      active_ms ${integer} not null,
      owner ${text},
      fence ${integer} not null,
      wakes ${integer} not null,
      request_id ${text},
      correlation_id ${text},
      created_at ${text} not null,
      started_at text,
      finished_at ${text},
      updated_at text not null
    )`,
    'create index flowchart_runs_by_flowchart on flowchart_runs (flowchart_id, id)',
    'create index flowchart_runs_by_vault on flowchart_runs (vault_id, id)',
    'create index flowchart_runs_by_age on flowchart_runs (finished_at) where finished_at is not null',
    "create index flowchart_runs_active on flowchart_runs (id) where status in ('queued', 'running', 'pausing', 'paused', 'stopping')",
    'create index flowchart_runs_by_parent on flowchart_runs (parent_run_id) where parent_run_id is not null',
    'create index flowchart_runs_by_source on flowchart_runs (replayed_from_run_id) where replayed_from_run_id is not null',
    `create table flowchart_run_nodes (
      id ${identity},
      flowchart_run_id ${integer} not null references flowchart_runs (id) on delete cascade,
      flowchart_node_id ${integer} not null,
      node_type text not null,
      sequence ${integer} not null,
      execution_index ${integer} not null,
      status ${text} not null check (status in ('queued', 'running', 'waiting', 'succeeded', 'failed', 'canceled')),
      started_order ${integer} not null,
      completed_order ${integer},
      reused_from_id ${integer},
      input_context_json text not null,
      output_state_json text,
      routing_state_json text,
      degraded_reason text,
      error text,
      error_code text,
      wait_json text,
      answer_json text,
      answered_by ${text},
      answered_at text,
      started_at text not null,
      finished_at text,
      unique (flowchart_run_id, sequence)
    )`,
    'create index flowchart_run_nodes_by_node on flowchart_run_nodes (flowchart_node_id, id)',
    "create index flowchart_run_nodes_waiting on flowchart_run_nodes (id) where status = 'waiting'",
    `create table node_artifacts (
      id ${identity},
      flowchart_id ${integer} not null,
      flowchart_node_id ${integer} not null,
      flowchart_run_id ${integer} not null references flowchart_runs (id) on delete cascade,
      flowchart_run_node_id ${integer} not null unique,
      node_type text not null,
      artifact_type ${text} not null,
      ref_id ${integer},
      execution_index ${integer} not null,
      retention_mode text not null check (retention_mode in ('forever', 'ttl', 'max_count', 'ttl_max_count')),
      expires_at ${text},
      request_id ${text},
      correlation_id ${text},
      payload_json text,
      created_at ${text} not null
    )`,
    'create index node_artifacts_by_node on node_artifacts (flowchart_node_id, id)',
    'create index node_artifacts_by_run on node_artifacts (flowchart_run_id, id)',
    'create index node_artifacts_by_ref on node_artifacts (artifact_type, ref_id, id) where ref_id is not null',
    'create index node_artifacts_by_expiry on node_artifacts (expires_at) where expires_at is not null',
    'create index node_artifacts_by_request on node_artifacts (request_id) where request_id is not null',
    'create index node_artifacts_by_correlation on node_artifacts (correlation_id) where correlation_id is not null',
    `create table runtime_idempotency_keys (
      ${vault},
      scope ${text} not null,
      idempotency_key ${text} not null,
      request_sha256 text not null,
      run_id ${integer} not null,
      response_json text not null,
      first_seen_at ${text} not null,
      last_seen_at text not null,
      hit_count ${integer} not null,
      primary key (vault_id, scope, idempotency_key)
    )`,
    'create index runtime_idempotency_keys_by_age on runtime_idempotency_keys (first_seen_at)',
    `create table processes (
      process_id ${text} primary key,
      host text not null,
      pid ${integer} not null,
      started text not null,
      kind text not null,
      seen_at text not null
    )`,
    `create table memories (
      id ${identity},
      ${vault},
      title text,
      description text not null,
      created_at text not null,
      updated_at ${text} not null
    )`,
    'create index memories_by_vault on memories (vault_id, updated_at, id)',
    `create table plans (
      id ${identity},
      ${vault},
      name text not null,
      description text,
      completed_at text,
      ${stamps}
    )`,
    'create index plans_by_vault on plans (vault_id, id)',
    `create table plan_stages (
      id ${identity},
      plan_id ${integer} not null references plans (id) on delete cascade,
      name text not null,
      description text,
      position ${integer} not null,
      completed_at text,
      ${stamps}
    )`,
    'create index plan_stages_by_plan on plan_stages (plan_id, position, id)',
    `create table plan_tasks (
      id ${identity},
      plan_stage_id ${integer} not null references plan_stages (id) on delete cascade,
      name text not null,
      description text,
      position ${integer} not null,
      completed_at text,
      ${stamps}
    )`,
    'create index plan_tasks_by_stage on plan_tasks (plan_stage_id, position, id)',
    `create table milestones (
      id ${identity},
      ${vault},
      name text not null,
      description text,
      status text not null check (status in ('planned', 'in_progress', 'at_risk', 'done', 'archived')),
      priority text not null check (priority in ('low', 'medium', 'high')),
      owner text,
      completed ${integer} not null,
      start_date text,
      due_date ${text},
      progress_percent ${integer} not null,
      health text not null check (health in ('green', 'yellow', 'red')),
      success_criteria text,
      dependencies text,
      links text,
      latest_update text,
      ${stamps}
    )`,
    'create index milestones_by_vault on milestones (vault_id, completed, due_date, id)',
    ...words(dialect),
    ...tail(dialect),
  ];
}

/** One word index for memories, plans and milestones. */
function words(dialect: DialectName): string[] {
  if (dialect === 'sqlite') {
    return [
      "create virtual table entity_words using fts5 (title, body, kind unindexed, entity_id unindexed, vault unindexed, tokenize = 'unicode61')",
    ];
  }
  return [
    `create table entity_words (
      kind text collate "C" not null,
      entity_id bigint not null,
      vault text collate "C" not null,
      words tsvector not null,
      primary key (kind, entity_id)
    )`,
    'create index entity_words_by_word on entity_words using gin (words)',
  ];
}

/**
 * Who follows all streams needs one order over them. SQLite has one writer, so that row numbers are in the order of
 * commits; on PostgreSQL the number of the transaction tells when everything before it has been decided.
 */
function tail(dialect: DialectName): string[] {
  if (dialect === 'sqlite') return [];
  return [
    'alter table events add column event_key bigint generated always as identity',
    'alter table events add column transaction_id xid8 not null default pg_current_xact_id()',
    'create index events_by_transaction on events (transaction_id, event_key)',
  ];
}
