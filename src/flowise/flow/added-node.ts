import { hideSecretsInText } from '../../kernel/secret-text.ts';
import { changedPaths } from './changed-paths.ts';
import { isToldByEdges, type Sources } from './connections.ts';
import type { AddedNode } from './diff.ts';
import type { FlowNode } from './model.ts';
import { type NodeView, viewOf } from './node-view.ts';
import { same } from './same.ts';
import { hiddenValue, passwordsFirst } from './secrets.ts';

/** What a node type starts with; null for a type that is not known. */
export type Defaults = (nodeName: string) => readonly { name: string; default?: unknown }[] | null;

/** What of a new node somebody has to look at: what is set and not the default, and whether it has its credential. */
export function addedDetails(node: FlowNode, sources: Sources, defaults?: Defaults): Omit<AddedNode, MentionKeys> {
  const view = viewOf(node);
  const params = passwordsFirst(view.params);
  // A flow may say of anything that it is a default; what is known of the type is believed instead.
  const usual = defaults ? (defaults(view.name) ?? []) : view.params;
  const told = Object.entries(view.values).flatMap(([name, value]) => {
    if (isEmpty(value) || isTheCredential(view, name, value) || isToldByEdges(view.id, name, value, sources)) return [];
    if (usual.some((param) => param.name === name && isDefault(value, param.default))) return [];
    const hidden = hiddenValue(params.get(name), name, value);
    const none = isRecord(value) ? {} : undefined;
    const paths = changedPaths(name, { before: none, after: value }, { before: none, after: hidden });
    return paths.map((path) => ({ name: path.name, after: path.after }));
  });
  const takesCredential = view.credential !== null || view.params.some((param) => param.type === 'credential');
  const credential = view.credential === null ? null : hideSecretsInText(view.credential);
  return { ...(told.length > 0 ? { params: told } : {}), ...(takesCredential ? { credential } : {}) };
}

type MentionKeys = 'node_id' | 'node_name' | 'label';

/** The canvas keeps the id of the credential among the inputs too. */
function isTheCredential(view: NodeView, name: string, value: unknown): boolean {
  return (name === 'credential' || name === 'FLOWISE_CREDENTIAL_ID') && value === view.credential;
}

/** The canvas stores numbers and switches as texts or as themselves, as they were typed. */
function isDefault(value: unknown, usual: unknown): boolean {
  if (usual === undefined) return false;
  if (same(value, usual)) return true;
  return isScalar(value) && isScalar(usual) && String(value) === String(usual);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
