import { hideSecretsIn } from '../../kernel/hide-secrets.ts';
import { isSecretField } from '../../kernel/secret-fields.ts';
import { hideSecretsInText } from '../../kernel/secret-text.ts';
import { REDACTED } from '../../kernel/secrets.ts';
import type { FlowData, FlowInput, FlowNode } from './model.ts';
import { viewOf } from './node-view.ts';

export { containsPlaceholder } from '../../kernel/hide-secrets.ts';

/** Values of these are picked from a list that everybody sees. */
const PICKED = new Set(['options', 'multiOptions', 'boolean', 'number']);

/**
 * A value of a node's input, fit for people, prompts and logs. A password is hidden whole, whatever it is called;
 * in everything else the secret parts are, told by names and shapes.
 */
export function hiddenValue(param: { name: string; type: string } | undefined, name: string, value: unknown): unknown {
  if (param?.type === 'password') return hiddenPassword(value);
  const secret = isSecretField(name) && !(param && PICKED.has(param.type));
  return hideSecretsIn(value, { name, secret });
}

function hiddenPassword(value: unknown): unknown {
  if (typeof value === 'number') return REDACTED;
  return hideSecretsIn(value, { secret: true });
}

/** A copy of the flow in which no secret is left, whoever typed it wherever: inputs, notes, labels, prompts, code. */
export function hideSecrets(flow: FlowData): FlowData {
  return mapFields(flow, (name, value) =>
    name === 'nodes' ? flow.nodes.map(hiddenNode) : hideSecretsIn(value, { name }),
  ) as FlowData;
}

function hiddenNode(node: FlowNode): FlowNode {
  return mapFields(node, (name, value) =>
    name === 'data' ? hiddenData(node) : hideSecretsIn(value, { name }),
  ) as FlowNode;
}

function hiddenData(node: FlowNode): Record<string, unknown> {
  const view = viewOf(node);
  const paramOf = passwordsFirst(view.params);
  return mapFields(node.data, (name, value) => {
    if (name === 'inputs' && value === view.values) {
      return mapFields(view.values, (input, set) => hiddenValue(paramOf.get(input), input, set));
    }
    const hidden = hideSecretsIn(value, { name });
    return name === 'inputParams' ? withoutDefaults(hidden) : hidden;
  });
}

/** Params by name. A name may occur twice in a node; if one of them is a password, the value may be one. */
export function passwordsFirst(params: readonly FlowInput[]): Map<string, FlowInput> {
  const byName = new Map<string, FlowInput>();
  for (const param of params) if (byName.get(param.name)?.type !== 'password') byName.set(param.name, param);
  return byName;
}

/** In the order of the original; a key `__proto__` stays a key. */
function mapFields(fields: object, show: (name: string, value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [hideSecretsInText(name), show(name, value)]),
  );
}

/** The definition of a secret may carry one as its default. */
function withoutDefaults(params: unknown): unknown {
  if (!Array.isArray(params)) return params;
  return params.map((param) => {
    const definition = param as { name?: unknown; type?: unknown; default?: unknown } | null;
    if (definition === null || typeof definition !== 'object' || typeof definition.default !== 'string') return param;
    const { name, type, default: value } = definition;
    return { ...definition, default: hiddenValue({ name: String(name), type: String(type) }, String(name), value) };
  });
}
