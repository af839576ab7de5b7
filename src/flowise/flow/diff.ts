/** How two flows differ, in the words of the canvas: nodes, parameters, connections. Secrets are hidden. */
export interface FlowDiff {
  /** Nothing differs but where things are drawn. */
  semantic_equal: boolean;
  identical: boolean;
  nodes_added: AddedNode[];
  nodes_removed: NodeMention[];
  nodes_changed: NodeChange[];
  connections_added: Connection[];
  connections_removed: Connection[];
  /** Ids of nodes that were only moved. */
  nodes_moved: string[];
  viewport_changed: boolean;
  /** Other top-level fields of the flow that differ. */
  fields_changed: string[];
}

export interface NodeMention {
  node_id: string;
  node_name: string;
  label: string;
}

export interface AddedNode extends NodeMention {
  /** What is set and not the default, by name; inside an object by path. Left out where there is nothing. */
  params?: { name: string; after: unknown }[];
  /** Id of the bound credential, null when none is bound yet; left out for a node that takes none. */
  credential?: string | null;
}

export interface NodeChange extends NodeMention {
  label_before?: string;
  /** By name; inside an object by path, such as `llmModelConfig.modelName`. */
  params: { name: string; before: unknown; after: unknown }[];
  /** 'bound' | 'unbound' | 'replaced'; ids of credentials are no secrets and are told. */
  credential?: { before: string | null; after: string | null };
  /** Of a node that offers a choice of outputs: the one that is used. */
  output?: { before: string | null; after: string | null };
  /** Other fields of the node's data that differ, by name; those around the data as `node.<name>`. */
  fields: string[];
}

export interface Connection {
  source: string;
  source_anchor: string;
  target: string;
  target_anchor: string;
}
