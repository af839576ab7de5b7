import type { Attachment } from '../../attachments/index.ts';
import type { Database, Trx } from '../../database/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Issue } from '../../kernel/errors.ts';
import type { Ready } from '../../kernel/ready.ts';
import type { Llm } from '../../llm/index.ts';
import type { GraphNode } from '../graph/model.ts';
import type { InputContext } from '../runtime/input-context.ts';

type Json = Record<string, unknown>;

/**
 * A kind of node: one folder that holds everything about it. The graph normalises and checks with it, the engine
 * executes it, artifacts take their payload from it and the studio renders its inspector.
 */
export interface NodeType {
  name: string;
  binds: {
    /** none: must be empty; required: a person picks it; auto: made on save when missing; optional: may be empty. */
    ref: 'none' | 'required' | 'auto' | 'optional';
    mcp: boolean;
    attachments: boolean;
  };
  /**
   * A config as it is stored: defaults filled in, aliases and clamps applied, keys common to all types kept. Issues
   * carry pointers relative to the config, such as `/mode`; one issue and the save is refused.
   */
  normaliseConfig(raw: Json): { config: Json; issues: Issue[] };
  /** The hard cut: a config of an older contract becomes one of today. */
  migrateConfig?(raw: Json): Json;
  /** What makes a stored node unfit to run, without refusing the save; pointers relative to the node. */
  check?(node: GraphNode): Issue[];
  /** What the inspector of the studio shows, in order. */
  inspector: readonly InspectorField[];
  /** Does the work of one node run. Effects on the database belong into `commit`, which may be called after a crash. */
  execute(execution: NodeExecution): Ready<NodeResult>;
  /** What becomes of a wait: the answer of a person, or the end of a subflow. */
  answered?(execution: NodeExecution, answer: unknown): Ready<NodeResult>;
  /** The payload of its artifact; without it, the artifact is made from the node run when it is read. */
  artifactPayload?(outcome: Outcome): Json;
}

export interface InspectorField {
  key: string;
  label: string;
  control: 'text' | 'prompt' | 'choice' | 'number' | 'switch' | 'json' | 'conditions' | 'flowchart' | 'reference';
  required?: boolean;
  options?: readonly string[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  help?: string;
}

/** What a node run gets to work with. */
export interface NodeExecution {
  vault_id: string;
  flowchart_id: number;
  run_id: number;
  node_run_id: number;
  /** Which execution of this node within the run, from 1. */
  execution_index: number;
  /** What the run was started with. */
  run_input: unknown;
  node: GraphNode;
  /** With whole outputs; what is stored holds references only. */
  input: InputContext;
  /** Bound to the node, then propagated to it; each once. */
  attachments: readonly Attachment[];
  request_id: string;
  correlation_id: string;
  /** Aborted when the run is canceled, or the node has used up its time. */
  signal: AbortSignal;
  services: NodeServices;
}

export interface NodeServices {
  database: Database;
  clock: Clock;
  llm: Llm;
  attachments: { read(attachment: Attachment): Promise<Buffer> };
}

/** How a node run ended well. */
export interface Outcome {
  /** `node_type` and `attachments` are added by the engine. */
  output_state: Json;
  routing_state: Json;
  /** The plan, milestone or memory that the artifact is filed under. */
  ref_id?: number | null;
  /** Why it succeeded only with a warning. */
  degraded_reason?: string;
}

export type NodeResult =
  | { done: Outcome }
  /** Runs inside the transaction that completes the node run: its effects happen exactly once. */
  | { commit: (trx: Trx) => Promise<Outcome> }
  | { wait: Wait };

export type Wait =
  | { for: 'person'; prompt: string; answer_schema: Json | null; allow_agents: boolean }
  | { for: 'run'; flowchart_id: number; input: unknown };

/** A coded failure of one node run; never of the process. */
export class NodeFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'NodeFailure';
    this.code = code;
  }
}
