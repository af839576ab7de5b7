import type { NodeSchema, NodeSchemas } from '../flowise/index.ts';
import type { ErrorCode } from '../kernel/errors.ts';

/**
 * What a session of work knows of one Flowise server: local first, and a single request where something is missing.
 * Misses are remembered until the session ends. Answers are frozen: nobody can change what others read.
 */
export interface KnowledgeSession {
  /** Local, else fetched once and kept; null when the server does not have it or cannot be asked. */
  getNodeSchema(nodeType: string): Promise<NodeSchema | null>;
  /**
   * Local only, at once: the compiler's view. A snapshot that turned out broken is refreshed by `ready` or by the first
   * asynchronous question; until then this view shows what came with the program.
   */
  readonly nodes: NodeSchemas;
  /** Known node types that are spelt alike, best first; for a name that getNodeSchema does not find. */
  suggestNodes(nodeType: string): string[];
  /** Reads and checks the node snapshot, and refreshes it if it is broken. */
  ready(): Promise<void>;
  /** Best first; `type` is Chatflow, AgentflowV2 or Tool. */
  findTemplates(tags: readonly string[], limit?: number, type?: string): Promise<TemplateEntry[]>;
  /** Fetches a template's flow, JSON text, and notes it as the one that was used; null when the server has it no more. */
  useTemplate(templateId: string): Promise<string | null>;
  /** By id, by name, else by type if it is the only one; a miss asks the server for its list once. */
  resolveCredential(nameOrType: string): Promise<CredentialAnswer>;
  listCredentials(): Promise<readonly CredentialEntry[]>;
  /** The four keys that a session's state gets: names and ids, never schemas. */
  state(): KnowledgeState;
  readonly repairEvents: readonly RepairEvent[];
  /** What did not go as it should, such as old answers served because the server could not be asked. */
  readonly warnings: readonly KnowledgeWarning[];
}

export interface KnowledgeWarning {
  code: ErrorCode;
  message: string;
}

export type CredentialAnswer =
  | { found: 'one'; credential: CredentialEntry }
  | { found: 'several'; choices: readonly CredentialEntry[] }
  | { found: 'none' };

/** The only fields of a credential that are ever kept. */
export interface CredentialEntry {
  credential_id: string;
  name: string;
  type: string;
  tags: string[];
  created_at: string | null;
  updated_at: string | null;
}

/** A marketplace template without its flow. */
export interface TemplateEntry {
  /** Derived from type and name: the server gives another id on every request. */
  template_id: string;
  name: string;
  /** Chatflow, AgentflowV2 or Tool. */
  type: string;
  description: string;
  tags: string[];
  badge: string | null;
  framework: string[];
  usecases: string[];
  categories: string[];
  flow_reference: string;
  version_label: string;
  snapshot_at: string;
}

export interface RepairEvent {
  kind: 'node' | 'credential' | 'template';
  /** The node type, or what was looked for. */
  node_type: string;
  timestamp: string;
  action: 'repaired' | 'not_found' | 'fetch_error';
  detail?: string;
}

export interface KnowledgeState {
  facts: { flowise: { available_node_types: string[]; resolved_credentials: Record<string, string> } };
  artifacts: { flowise: { template_used: string | null } };
  debug: { flowise: { knowledge_repair_events: RepairEvent[] } };
}

/** Knowledge of every server of every vault; making a session costs nothing until something is asked. */
export interface Knowledge {
  session(vaultId: string, server?: string): Promise<KnowledgeSession>;
}
