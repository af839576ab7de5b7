import type { FlowNode } from '../flow/model.ts';
import { type Bench, namedNode, refuse } from './bench.ts';
import { componentsOf } from './components.ts';
import { inputValue, isRecord, paramsOf } from './handles.ts';
import { mention } from './kinds.ts';
import type { PatchOp } from './ops.ts';
import { isPlaceholder } from './values.ts';

type BindCredential = Extract<PatchOp, { op_type: 'bind_credential' }>;
/** Where the canvas keeps a choice until it saves; left behind, it would win over ours. */
const UNSAVED = 'FLOWISE_CREDENTIAL_ID';

/**
 * The server reads `data.credential` and nothing else, and that is all the canvas saves. Other places in which a node
 * already holds its credential are kept in step; none is made up, so that exports do not carry it twice.
 */
export function bindCredential(bench: Bench, op: BindCredential, path: string): void {
  const node = namedNode(bench, op.node_id, `${path}/node_id`);
  if (!node) return;
  if (isPlaceholder(op.credential_id)) {
    const message = `${op.credential_id} stands for a credential that was not found; store it in Flowise and use its id.`;
    refuse(bench, 'credential_unresolved', `${path}/credential_id`, message);
    return;
  }
  const accepted = credentialNames(bench, node);
  if (accepted) {
    if (fits(bench, op, node, accepted, path)) bindNode(bench, node, op.credential_id);
    return;
  }
  bindComponent(bench, op, node, path);
}

function bindNode(bench: Bench, node: FlowNode, id: string): void {
  const inputs = isRecord(node.data.inputs) ? node.data.inputs : {};
  bench.canvas.changeData(node.id, { credential: id });
  for (const place of ['credential', UNSAVED]) {
    if (Object.hasOwn(inputs, place)) bench.canvas.setInput(node.id, place, id);
  }
}

/** Names of the credentials that a node takes; null when it takes none itself. */
function credentialNames(bench: Bench, node: FlowNode): string[] | null {
  const own = paramsOf(node).find((param) => param.type === 'credential');
  const definition = own ?? bench.schemas.get(String(node.data.name))?.credential;
  if (!definition) return null;
  const names: unknown = definition.credentialNames;
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

function fits(bench: Bench, op: BindCredential, node: FlowNode, accepted: string[], path: string): boolean {
  const { credential_type: type } = op;
  if (type === undefined || accepted.length === 0 || accepted.includes(type)) return true;
  const message = `${mention(node)} takes a credential of type ${accepted.join(' or ')}, not ${type}.`;
  refuse(bench, 'credential_type_mismatch', `${path}/credential_type`, message);
  return false;
}

/** Agentflow nodes run a component, such as a model, whose settings and credential they keep in `<parameter>Config`. */
function bindComponent(bench: Bench, op: BindCredential, node: FlowNode, path: string): void {
  const components = componentsOf(node, bench.schemas).flatMap(({ place: [place, ...row], credentialNames: names }) =>
    place !== undefined && row.length === 0 ? [{ place, names }] : [],
  );
  const fitting = components.filter(
    ({ names }) => op.credential_type === undefined || names.length === 0 || names.includes(op.credential_type),
  );
  const [component, another] = fitting;
  if (!component) {
    const names = components.flatMap((one) => one.names);
    const takes = names.length > 0 ? `takes a credential of type ${names.join(' or ')}` : 'takes no credential';
    refuse(bench, 'credential_type_mismatch', `${path}/node_id`, `${mention(node)} ${takes}.`);
    return;
  }
  if (another) {
    const message = `${mention(node)} runs several components; say which by credential_type (${fitting.flatMap((one) => one.names).join(', ')}).`;
    refuse(bench, 'credential_type_missing', path, message);
    return;
  }
  const held = inputValue(node, component.place);
  const config = isRecord(held) ? held : {};
  const bound = { ...config, credential: op.credential_id, [UNSAVED]: op.credential_id };
  bench.canvas.setInput(node.id, component.place, bound);
}
