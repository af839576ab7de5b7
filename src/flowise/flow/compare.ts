import { hideSecretsIn } from '../../kernel/hide-secrets.ts';
import { hideSecretsInText } from '../../kernel/secret-text.ts';
import { compareEdges, inputKey, sourcesByInput } from './connections.ts';
import type { Connection, FlowDiff, NodeChange, NodeMention } from './diff.ts';
import { meaningAroundData, meaningOfData, meaningOfFields } from './meaning.ts';
import type { FlowData, FlowInput, FlowNode } from './model.ts';
import { type NodeView, referencesIn, viewOf } from './node-view.ts';
import { pairNodes } from './pair-nodes.ts';
import { differingFields, same } from './same.ts';
import { hiddenValue, passwordsFirst } from './secrets.ts';

/**
 * How two flows differ. Nodes are paired by their id, connections by their two ends, so the work grows with the flows
 * and not with their product. Values, labels and ids are told with secrets hidden; that a secret changed is told too.
 */
export function diffFlows(before: FlowData, after: FlowData): FlowDiff {
  const pairs = pairNodes(before, after);
  const sources = { before: sourcesByInput(before), after: sourcesByInput(after) };
  const changed: NodeChange[] = [];
  const moved: string[] = [];
  for (const { old, now } of pairs.kept) {
    const change = compareNodes(old, now, sources);
    if (change) changed.push(change);
    else if (!same(old.position, now.position)) moved.push(hideSecretsInText(now.id));
  }
  const edges = compareEdges(before, after);
  const fields = differingFields(meaningOfFields(before), meaningOfFields(after)).map(hideSecretsInText);
  const diff: FlowDiff = {
    semantic_equal: false,
    identical: same(before, after),
    nodes_added: pairs.added.map(mention),
    nodes_removed: pairs.removed.map(mention),
    nodes_changed: changed,
    connections_added: edges.added.map(hiddenConnection),
    connections_removed: edges.removed.map(hiddenConnection),
    nodes_moved: moved,
    viewport_changed: !same(before.viewport, after.viewport),
    fields_changed: edges.reworded ? [...fields, 'edges'] : fields,
  };
  const told = [diff.nodes_added, diff.nodes_removed, changed, edges.added, edges.removed, diff.fields_changed];
  diff.semantic_equal = told.every((list) => list.length === 0);
  return diff;
}

function mention(node: FlowNode): NodeMention {
  const { id, name, label } = viewOf(node);
  return {
    node_id: hideSecretsInText(id),
    node_name: hideSecretsInText(name),
    label: hideSecretsInText(label),
  };
}

function hiddenConnection(connection: Connection): Connection {
  return hideSecretsIn(connection) as Connection;
}

interface Sources {
  before: Map<string, string[]>;
  after: Map<string, string[]>;
}

/** Null when nothing differs that the connections do not tell already. */
function compareNodes(old: FlowNode, now: FlowNode, sources: Sources): NodeChange | null {
  const around = differingFields(meaningAroundData(old), meaningAroundData(now));
  const data = new Set(differingFields(meaningOfData(fieldsOf(old)), meaningOfData(fieldsOf(now))));
  if (around.length === 0 && data.size === 0) return null;
  const [was, is] = [viewOf(old), viewOf(now)];
  const change: NodeChange = { ...mention(now), params: [], fields: [] };
  if (was.label !== is.label && data.delete('label')) change.label_before = hideSecretsInText(was.label);
  if (was.credential !== is.credential && data.delete('credential')) {
    change.credential = { before: hiddenId(was.credential), after: hiddenId(is.credential) };
  }
  if (was.chosenOutput !== is.chosenOutput && data.delete('outputs')) {
    change.output = { before: hiddenId(was.chosenOutput), after: hiddenId(is.chosenOutput) };
  }
  const inputs = differingFields(was.values, is.values);
  if (inputs.length > 0 && data.delete('inputs')) change.params = compareParams(was, is, inputs, sources);
  change.fields = [...data, ...around.map((name) => `node.${name}`)].map(hideSecretsInText);
  const { params, fields, ...told } = change;
  const isTold = params.length + fields.length > 0 || Object.keys(told).length > MENTION_FIELDS;
  return isTold ? change : null;
}

/** node_id, node_name, label. */
const MENTION_FIELDS = 3;

function compareParams(was: NodeView, is: NodeView, names: string[], sources: Sources): NodeChange['params'] {
  const params = passwordsFirst([...was.params, ...is.params]);
  return names
    .filter((name) => !isTheCredential(was, is, name) && !isToldByConnections(was, is, name, sources))
    .map((name) => ({
      name: hideSecretsInText(name),
      before: shown(params.get(name), name, was.values),
      after: shown(params.get(name), name, is.values),
    }));
}

/** Null for a value that is not set at all. */
function shown(param: FlowInput | undefined, name: string, values: Record<string, unknown>): unknown {
  return Object.hasOwn(values, name) ? hiddenValue(param, name, values[name]) : null;
}

/** The canvas keeps the id of the credential among the inputs too. */
function isTheCredential(was: NodeView, is: NodeView, name: string): boolean {
  if (name !== 'credential' && name !== 'FLOWISE_CREDENTIAL_ID') return false;
  return was.credential !== is.credential && (is.values[name] ?? '') === (is.credential ?? '');
}

/** Connecting writes the source into the input; where edges and inputs agree, the connection says it all. */
function isToldByConnections(was: NodeView, is: NodeView, name: string, sources: Sources): boolean {
  const key = inputKey(is.id, name);
  const [old, now] = [sortedReferences(was.values[name]), sortedReferences(is.values[name])];
  if (old === null || now === null || same(old, now)) return false;
  return same(old, sortedSources(sources.before.get(key))) && same(now, sortedSources(sources.after.get(key)));
}

function sortedReferences(value: unknown): string[] | null {
  return referencesIn(value)?.sort() ?? null;
}

function sortedSources(sources: readonly string[] | undefined): string[] {
  return [...(sources ?? [])].sort();
}

function hiddenId(id: string | null): string | null {
  return id === null ? null : hideSecretsInText(id);
}

function fieldsOf(node: FlowNode): Record<string, unknown> {
  return node.data;
}
