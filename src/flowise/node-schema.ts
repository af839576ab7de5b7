/**
 * What is known of a node type: an entry of the node snapshot. Inputs keep Flowise's own field names, in arrays and
 * never in maps, because fourteen names occur twice inside one node (each shown under another condition).
 */
export interface NodeSchema {
  node_type: string;
  label: string;
  category: string;
  version: number;
  description?: string;
  /** First credential name without which the node does not work; null when none is needed. */
  credential_required: string | null;
  /** The credential definition, whole. */
  credential?: CredentialDefinition;
  /** The declared class, such as ChatOpenAI. */
  type: string;
  baseClasses: string[];
  /** DEPRECATING, BETA, NEW … */
  badge?: string;
  deprecateMessage?: string;
  tags?: string[];
  color?: string;
  hideInput?: boolean;
  hideOutput?: boolean;
  hint?: string;
  warning?: string;
  author?: string;
  documentation?: string;
  baseURL?: string;
  /** Inputs whose default is a text of ours in place of the long one that Flowise ships. */
  own_defaults?: string[];
  /** Inputs that another node is connected to. */
  input_anchors: NodeInput[];
  /** Inputs that are filled in. */
  input_params: NodeInput[];
  output_anchors: NodeOutput[];
  /** The node lists its outputs itself: the canvas then offers one anchor with a choice, even of a single one. */
  has_output_choice: boolean;
}

export interface CredentialDefinition {
  label: string;
  name: string;
  type: string;
  credentialNames: string[];
  optional?: boolean;
  description?: string;
}

/** One input, with every field that the canvas or the server reads (optional, default, list, options, show, rows …). */
export interface NodeInput {
  /** Equals name. */
  id: string;
  name: string;
  label: string;
  type: string;
  optional?: boolean;
  default?: unknown;
  list?: boolean;
  acceptVariable?: boolean;
  options?: NodeOption[];
  loadMethod?: string;
  [field: string]: unknown;
}

export interface NodeOption {
  label: string;
  name: string;
  [field: string]: unknown;
}

export interface NodeOutput {
  /** Equals name. */
  id: string;
  name: string;
  label: string;
  /** Base classes joined by ' | '. */
  type: string;
  baseClasses: string[];
  description?: string;
  isAnchor?: boolean;
}

/** Types of inputs that are filled in; every other type is a class, and its input an anchor. */
export const PARAM_TYPES: ReadonlySet<string> = new Set([
  'asyncOptions',
  'asyncMultiOptions',
  'options',
  'multiOptions',
  'array',
  'datagrid',
  'string',
  'number',
  'boolean',
  'password',
  'json',
  'code',
  'date',
  'file',
  'folder',
  'tabs',
  'conditionFunction',
  'timePicker',
  'weekDaysPicker',
  'monthDaysPicker',
  'datePicker',
]);

/** The compiler's view of what is known; asking costs nothing. */
export interface NodeSchemas {
  /** By exact name, else by the only one that differs in case. */
  get(nodeType: string): NodeSchema | null;
  /** For did-you-mean. */
  names(): readonly string[];
}

/** Fields of a node that are kept as they are, where it has them. */
export const CARRIED_NODE_FIELDS = [
  'badge',
  'deprecateMessage',
  'tags',
  'color',
  'hideInput',
  'hideOutput',
  'hint',
  'warning',
  'author',
  'documentation',
  'baseURL',
] as const;
