import { hideSecretsIn } from '../../kernel/hide-secrets.ts';
import { hideSecretsInText } from '../../kernel/secret-text.ts';
import { addedDetails, type Defaults } from './added-node.ts';
import { changedPaths } from './changed-paths.ts';
import { compareEdges, isToldByEdges, type Sources, sourcesByInput } from './connections.ts';
import type { Connection, FlowDiff, NodeChange, NodeMention } from './diff.ts';
import { meaningAroundData, meaningOfData, meaningOfFields } from './meaning.ts';
import type { FlowData, FlowNode } from './model.ts';
import { type NodeView, referencesIn, viewOf } from './node-view.ts';
import { pairNodes } from './pair-nodes.ts';
import { differingFields, same } from './same.ts';
import { hiddenValue, passwordsFirst } from './secrets.ts';

/**
 * How two flows differ. Nodes are paired by their id, connections by their two ends, so the work grows with the flows
 * and not with their product. Values, labels and ids are told with secrets hidden; that a secret changed is told too.
 * Of added nodes the values are told that are not the default: as `defaults` knows it, else as the node says.
 */
export function diffFlows(before: FlowData, after: FlowData, defaults?: Defaults): FlowDiff {
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
    nodes_added: pairs.added.map((node) => ({ ...mention(node), ...addedDetails(node, sources.after, defaults) })),
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

interface BothSources {
  before: Sources;
  after: Sources;
}

/** Null when nothing differs that the connections do not tell already. */
function compareNodes(old: FlowNode, now: FlowNode, sources: BothSources): NodeChange | null {
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

function compareParams(was: NodeView, is: NodeView, names: string[], sources: BothSources): NodeChange['params'] {
  const params = passwordsFirst([...was.params, ...is.params]);
  return names
    .filter((name) => !isTheCredential(was, is, name) && !isToldByConnections(was, is, name, sources))
    .flatMap((name) => {
      const [old, now] = [ownValue(was.values, name), ownValue(is.values, name)];
      const param = params.get(name);
      const hidden = { before: hiddenValue(param, name, old), after: hiddenValue(param, name, now) };
      return changedPaths(name, { before: old, after: now }, hidden);
    });
}

function ownValue(values: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** The canvas keeps the id of the credential among the inputs too. */
function isTheCredential(was: NodeView, is: NodeView, name: string): boolean {
  if (name !== 'credential' && name !== 'FLOWISE_CREDENTIAL_ID') return false;
  return was.credential !== is.credential && (is.values[name] ?? '') === (is.credential ?? '');
}

/** That the input holds another source is told by the connections, where edges and inputs agree before and after. */
function isToldByConnections(was: NodeView, is: NodeView, name: string, sources: BothSources): boolean {
  const [old, now] = [was.values[name], is.values[name]];
  if (same(referencesIn(old)?.sort(), referencesIn(now)?.sort())) return false;
  return isToldByEdges(is.id, name, old, sources.before) && isToldByEdges(is.id, name, now, sources.after);
}

function hiddenId(id: string | null): string | null {
  return id === null ? null : hideSecretsInText(id);
}

function fieldsOf(node: FlowNode): Record<string, unknown> {
  return node.data;
}
