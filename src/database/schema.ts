import type { Generated } from 'kysely';
import type { FlowchartSchema } from './flowchart-schema.ts';
import type { FlowiseSchema } from './flowise-schema.ts';

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
  /** At least this; writers that count by the events themselves leave it behind. */
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
  /** The proposal that brought it; null for starters and imported stores. */
  proposal_id: string | null;
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

/** One change somebody wants, from the asking to the decision. */
export interface ProposalsTable {
  /** Order of creation; lists page by it. */
  proposal_key: Generated<number>;
  proposal_id: string;
  vault_id: string;
  target: 'note' | 'flow';
  status: 'proposed' | 'approved' | 'discarded' | 'conflicted';
  /** The note that changes; of a flow, its mirror. */
  path: string;
  source: string;
  intent: string;
  body: string;
  frontmatter_json: string;
  labels_json: string;
  /** Labels in lower case, each on a line, for the filter. */
  label_words: string;
  external_ref: string;
  /** Token of what the change is based on; binding together with the hash. */
  base_state_id: string;
  base_sha256: string | null;
  /** Of a note, the text that the change is based on; null where there was none. */
  base_text: string | null;
  flow_id: string | null;
  flow_kind: 'new' | 'edit' | 'import' | 'retire' | null;
  flow_version: string | null;
  base_version: string | null;
  scope: string | null;
  auto_approvable: number;
  review_queue: string;
  review_severity: 'standard' | 'elevated';
  flag_reasons_json: string;
  evaluation_status: 'none' | 'pending' | 'passed' | 'failed' | 'needs_changes';
  evaluation_json: string;
  waiver_json: string | null;
  proposed_by: string;
  proposed_as: 'user' | 'agent' | 'local';
  actor_hash: string;
  decided_by: string | null;
  decided_at: string | null;
  decision_note: string;
  self_approved: number;
  applied_state_id: string | null;
  idempotency_key: string | null;
  request_sha256: string | null;
  created_at: string;
  updated_at: string;
}

export interface ProposalCommentsTable {
  comment_key: Generated<number>;
  proposal_key: number;
  author: string;
  author_kind: string;
  body: string;
  created_at: string;
}

/** The readable note of a flow: which text the library put there last. */
export interface FlowMirrorsTable {
  vault_id: string;
  path: string;
  flow_id: string;
  version: string;
  text_sha256: string;
}

/** A file that a committed change still has to write; gone once it is written. */
export interface FileWritesTable {
  write_key: Generated<number>;
  place: string;
  path: string;
  /** Null removes the file. */
  text: string | null;
  /** Hash of what the file held when the change was decided; null when there was none. */
  before_sha256: string | null;
  /** The flow it tells of, whose scope decides who may read it. */
  flow_id: string | null;
  created_at: string;
}

/** A file that somebody edited and that was given another name instead of being overwritten. */
export interface KeptFilesTable {
  place: string;
  path: string;
  flow_id: string | null;
  kept_at: string;
}

export interface Schema extends FlowchartSchema, FlowiseSchema {
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
  proposals: ProposalsTable;
  proposal_comments: ProposalCommentsTable;
  flow_mirrors: FlowMirrorsTable;
  file_writes: FileWritesTable;
  kept_files: KeptFilesTable;
}
