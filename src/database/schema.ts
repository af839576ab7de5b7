import type { Generated } from 'kysely';

/** One interface a table; the migrations create exactly these. Times are ISO-8601 UTC, JSON columns are text. */
export interface VaultsTable {
  vault_id: string;
  title: string;
  /** Revision of the starter set that this vault has received; 0 before, -1 when the vault wants none. */
  starter_revision: number;
  created_at: string;
}

export interface UsersTable {
  user_id: string;
  created_at: string;
  disabled_at: string | null;
}

export interface MembershipsTable {
  user_id: string;
  vault_id: string;
  role: string;
  /** JSON list that replaces the role's baseline scopes, or null. */
  scopes_json: string | null;
  ambiguous: number;
  created_at: string;
}

export interface TokensTable {
  token_id: string;
  /** SHA-256 of the secret; the secret itself is shown once and never stored. */
  secret_sha256: string;
  purpose: 'bearer' | 'session' | 'signin';
  user_id: string;
  vault_id: string;
  /** 1: requests with it act as an agent, which never approves or administers. */
  agent: number;
  label: string;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
}

export interface AuditTable {
  /** '' is the chain of hub-wide acts. */
  vault_id: string;
  sequence: number;
  at: string;
  user_id: string;
  actor_hash: string;
  door: string;
  action: string;
  outcome: 'done' | 'refused';
  code: string | null;
  /** How many like acts this line stands for. */
  occurrences: number;
  request_id: string;
  detail_json: string;
  previous_hash: string;
  hash: string;
}

export interface StreamsTable {
  stream: string;
  last_sequence: number;
  /** Lowest sequence still held; older ones were pruned. */
  first_sequence: number;
}

export interface EventsTable {
  stream: string;
  sequence: number;
  event_id: string;
  type: string;
  payload_json: string;
  created_at: string;
}

export interface RevisionsTable {
  topic: string;
  revision: number;
}

/** The latest version of each flow, with everything a list needs. */
export interface FlowsTable {
  /** Row number; the word index refers to it. */
  flow_key: Generated<number>;
  vault_id: string;
  flow_id: string;
  version: string;
  scope: string;
  /** `updated` as epoch milliseconds: the sort key. */
  updated_ms: number;
  /** The summary as lists send it. */
  summary_json: string;
  state_id: string;
  content_sha256: string;
  retired_at: string | null;
}

/** Tags of latest versions, with the list's sort key, so that a tag filter is one index range. */
export interface FlowTagsTable {
  vault_id: string;
  tag: string;
  scope: string;
  updated_ms: number;
  flow_id: string;
}

export interface FlowVersionsTable {
  vault_id: string;
  flow_id: string;
  version: string;
  flow_json: string;
  state_id: string;
  content_sha256: string;
  created_at: string;
}

export interface FlowStepsTable {
  vault_id: string;
  flow_id: string;
  version: string;
  ordinal: number;
  step_id: string;
  step_json: string;
}

/** Records of an imported store file that we keep verbatim and write back on export. */
export interface FlowRecordsTable {
  vault_id: string;
  kind: 'runs' | 'candidates' | 'projections';
  position: number;
  record_json: string;
}

/** What an import would not accept, kept with the reason. */
export interface FlowQuarantineTable {
  quarantine_id: string;
  vault_id: string;
  kind: string;
  reason: string;
  record_json: string;
  created_at: string;
}

export interface Schema {
  vaults: VaultsTable;
  users: UsersTable;
  memberships: MembershipsTable;
  tokens: TokensTable;
  audit: AuditTable;
  streams: StreamsTable;
  events: EventsTable;
  revisions: RevisionsTable;
  flows: FlowsTable;
  flow_tags: FlowTagsTable;
  flow_versions: FlowVersionsTable;
  flow_steps: FlowStepsTable;
  flow_records: FlowRecordsTable;
  flow_quarantine: FlowQuarantineTable;
}
