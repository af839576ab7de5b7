type Json = Record<string, unknown>;

export interface DecisionCondition {
  connector_id: string;
  condition_text: string;
}

/** What the sync needs to know of a connector, in the order in which connectors are followed. */
export interface DecisionEdge {
  edge_mode: string;
  condition_key: string | null;
}

/**
 * The solid connectors of one decision and its conditions are the same list. A connector without a key, or with one that
 * an earlier connector has, is given the next free `connector_N`; each condition keeps the text it had under its key.
 * Keys of other connectors stay as they were sent.
 */
export function syncDecision(
  edges: readonly DecisionEdge[],
  texts: ReadonlyMap<string, string>,
): { keys: (string | null)[]; conditions: DecisionCondition[] } {
  const taken = new Set<string>();
  const keys = edges.map(({ edge_mode, condition_key }) => {
    if (edge_mode !== 'solid') return condition_key;
    if (condition_key === null || taken.has(condition_key)) return null;
    taken.add(condition_key);
    return condition_key;
  });
  let number = 0;
  const free = (): string => {
    do number += 1;
    while (taken.has(`connector_${number}`));
    return `connector_${number}`;
  };
  const conditions: DecisionCondition[] = [];
  for (const [at, { edge_mode }] of edges.entries()) {
    if (edge_mode !== 'solid') continue;
    const connector_id = keys[at] ?? free();
    keys[at] = connector_id;
    conditions.push({ connector_id, condition_text: texts.get(connector_id) ?? '' });
  }
  return { keys, conditions };
}

/** The texts of a config by connector; what is not a condition is passed over. */
export function conditionTexts(config: Json | undefined): Map<string, string> {
  const texts = new Map<string, string>();
  const entries = config?.decision_conditions;
  for (const entry of Array.isArray(entries) ? entries : []) {
    const { connector_id, condition_text } = (entry ?? {}) as Partial<Record<string, unknown>>;
    if (typeof connector_id === 'string') {
      texts.set(connector_id.trim(), typeof condition_text === 'string' ? condition_text : '');
    }
  }
  return texts;
}

/** A key that the sync made, not a person. */
export function isGeneratedKey(key: string | null): boolean {
  return key !== null && /^connector_\d+$/.test(key);
}
