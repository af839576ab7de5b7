import type { Generated } from 'kysely';

/** A Flowise server that somebody added. Its secret is sealed with the key of the data folder. */
export interface FlowiseServersTable {
  vault_id: string;
  name: string;
  url: string;
  auth: 'none' | 'key' | 'basic';
  username: string | null;
  secret_sealed: string | null;
  is_default: number;
  created_at: string;
  updated_at: string;
}

/** A flowData text, whole and sealed, kept once however many versions have it. */
export interface ChatflowStatesTable {
  vault_id: string;
  /** SHA-256 of the very text. */
  flow_hash: string;
  /** SHA-256 of what the text means: the same when only positions differ. */
  semantic_hash: string;
  content_sealed: string;
  created_at: string;
}

/** What a chatflow was at one moment, oldest version 1. */
export interface ChatflowVersionsTable {
  version_key: Generated<number>;
  vault_id: string;
  server: string;
  chatflow_id: string;
  version: number;
  /** Who brought it: our write, what was there before it, an edit found on the server, its removal there. */
  origin: 'seen' | 'write' | 'edit' | 'restore' | 'promote' | 'removed';
  name: string;
  type: string;
  /** Null of a removal. */
  flow_hash: string | null;
  semantic_hash: string | null;
  /** What a restore also puts back: deployed, isPublic, category and the like. No secrets. */
  fields_json: string;
  node_count: number;
  edge_count: number;
  /** One line against the version before, secrets hidden. */
  summary: string;
  label: string | null;
  message: string;
  author: string;
  write_id: string | null;
  created_at: string;
}

/** What we are about to send, committed before it is sent, so that a crash is settled by looking. */
export interface ChatflowWritesTable {
  write_id: string;
  vault_id: string;
  server: string;
  /** Null until a creation is known to have succeeded. */
  chatflow_id: string | null;
  kind: 'create' | 'update';
  status: 'intended' | 'written' | 'absent' | 'superseded';
  base_hash: string | null;
  /** Of what was approved. */
  payload_hash: string;
  /** Of the request that led to it, so that its repetition is recognised. */
  request_hash: string | null;
  plan_sealed: string;
  origin: 'write' | 'restore' | 'promote';
  message: string;
  /** Null until the request itself goes out: before that nothing can arrive. */
  sent_at: string | null;
  error: string | null;
  author: string;
  /** Who sends it, so that a dead sender is told from a slow one. */
  process_json: string;
  idempotency_key: string | null;
  created_at: string;
  settled_at: string | null;
}

export interface FlowiseSchema {
  flowise_servers: FlowiseServersTable;
  chatflow_states: ChatflowStatesTable;
  chatflow_versions: ChatflowVersionsTable;
  chatflow_writes: ChatflowWritesTable;
}
