import type { FlowInput, FlowNode } from '../flow/model.ts';
import { containsPlaceholder } from '../flow/secrets.ts';
import type { NodeSchemas } from '../node-schema.ts';
import { checkCredentials } from './check-credentials.ts';
import { toolPlaceholder } from './compilation.ts';
import { isShown } from './conditions.ts';
import { type Findings, type FlowView, step } from './flow-view.ts';
import { anchorsOf, inputValue, isRecord, paramsOf, targetInput } from './handles.ts';
import { isAgentflowNode, isNote, mention } from './kinds.ts';
import { eachText } from './mentions.ts';
import { didYouMean } from './similar.ts';
import { isPlaceholder } from './values.ts';

/** What is known outside the flow; what is left out is not checked. */
export interface Surroundings {
  schemas?: NodeSchemas;
  /** Ids of stored tools. */
  tools?: ReadonlySet<string>;
  /** Tools that will be stored before the flow. */
  toolRefs: ReadonlySet<string>;
  /** Ids of stored credentials. */
  credentials?: ReadonlySet<string>;
}

const HELPED_MISTAKES = 30;

export function checkNodes(view: FlowView, known: Surroundings, findings: Findings): void {
  const seen = new Set<string>();
  view.flow.nodes.forEach((node, index) => {
    const path = `/nodes/${index}`;
    checkIdentity(node, path, seen, findings);
    if (isNote(node)) return;
    checkForm(node, path, findings);
    checkType(node, path, known, findings);
    checkRequired(view, node, path, findings);
    checkCredentials(node, path, known, findings);
    checkValues(node, path, known, findings);
  });
}

function checkIdentity(node: FlowNode, path: string, seen: Set<string>, findings: Findings): void {
  const where = { path: `${path}/id`, subject: node.id };
  if (seen.has(node.id)) {
    findings.error('node_id_duplicate', where, `Two nodes have the id ${node.id}; give one of them another.`);
  }
  seen.add(node.id);
  if (node.id.includes('-')) {
    const message = `The id ${node.id} holds a dash, at which Flowise splits its handles; use letters, digits and _.`;
    findings.error('node_id_invalid', where, message);
  }
  if (node.data.id !== node.id && !isNote(node)) {
    const message = `data.id of ${mention(node)} must be ${node.id}: that is the id the server runs it by.`;
    findings.error('node_id_mismatch', { path: `${path}/data/id`, subject: node.id }, message);
  }
}

/** Without these lists the server fails, or the canvas stays white. */
function checkForm(node: FlowNode, path: string, findings: Findings): void {
  const data: Record<string, unknown> = node.data;
  const lists = isAgentflowNode(node) ? ['inputParams'] : ['inputAnchors', 'inputParams', 'outputAnchors'];
  const missing = [
    ...lists.filter((field) => !Array.isArray(data[field])),
    ...['inputs', 'outputs'].filter((field) => !isRecord(data[field])),
  ];
  if (missing.length === 0) return;
  const message = `${mention(node)} lacks data.${missing.join(', data.')}; remove the node and add it anew.`;
  findings.error('node_form', { path: `${path}/data`, subject: node.id }, message);
}

function checkType(node: FlowNode, path: string, { schemas }: Surroundings, findings: Findings): void {
  const name: unknown = node.data.name;
  const where = { path: `${path}/data/name`, subject: `${node.id} ${String(name)}` };
  if (typeof name !== 'string' || name === '') {
    findings.error('node_type_unknown', where, `${mention(node)} has no data.name, which says what it is.`);
  } else if (schemas && schemas.get(name)?.node_type !== name) {
    const help = findings.all.length < HELPED_MISTAKES ? didYouMean(name, schemas.names()) : '';
    const message = `There is no node type ${name}, which ${mention(node)} has${help}.`;
    findings.error('node_type_unknown', where, message);
  }
}

function checkRequired(view: FlowView, node: FlowNode, path: string, findings: Findings): void {
  const inputs = isRecord(node.data.inputs) ? node.data.inputs : {};
  const at = (name: string) => ({ path: `${path}/data/inputs/${step(name)}`, subject: `${node.id} ${name}` });
  const needed = anchorsOf(node).filter((anchor) => anchor.optional !== true && isShown(anchor, inputs));
  const connected = needed.length > 0 ? connectedInputs(view, node) : new Set();
  for (const { name, type } of needed) {
    if (connected.has(name)) continue;
    findings.incomplete('input_missing', at(name), `${mention(node)} needs a ${type} connected to ${name}.`);
  }
  for (const param of paramsOf(node)) {
    const { name, type, optional, hidden } = param;
    if (optional === true || hidden === true || type === 'boolean' || type === 'credential') continue;
    if (!isMissing(param, inputValue(node, name)) || !isShown(param, inputs)) continue;
    const message = `${mention(node)} needs a value for ${name}; set it.`;
    // Templates leave such inputs empty too, and the node copes.
    if (param.default !== undefined) findings.warning('input_missing', at(name), message);
    else findings.incomplete('input_missing', at(name), message);
  }
}

function connectedInputs(view: FlowView, node: FlowNode): Set<string> {
  return new Set((view.to.get(node.id) ?? []).flatMap((edge) => targetInput(node, edge)?.input.name ?? []));
}

/** A default that is false or 0 is kept as an empty text; one that was cleared is not. */
function isMissing({ default: usual }: FlowInput, value: unknown): boolean {
  if (usual !== undefined && (!usual || value === undefined)) return false;
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

const TOOL = toolPlaceholder('');

function checkValues(node: FlowNode, path: string, known: Surroundings, findings: Findings): void {
  if (!isRecord(node.data.inputs)) return;
  for (const [name, value] of Object.entries(node.data.inputs)) {
    const where = { path: `${path}/data/inputs/${step(name)}`, subject: `${node.id} ${name}` };
    if (containsPlaceholder(value)) {
      const message = `${name} of ${mention(node)} holds the sign of a hidden secret; give the real value.`;
      findings.error('secret_hidden', where, message);
    }
    eachText(value, (text) => {
      if (isPlaceholder(text)) {
        findings.error('placeholder', where, `${name} of ${mention(node)} still holds a placeholder; set it.`);
      } else if (text.startsWith(TOOL) && !known.toolRefs.has(text.slice(TOOL.length))) {
        const message = `${name} of ${mention(node)} names a tool that nothing creates; use create_tool.`;
        findings.error('tool_unresolved', where, message);
      }
    });
  }
  checkTool(node, path, known, findings);
}

function checkTool(node: FlowNode, path: string, { tools }: Surroundings, findings: Findings): void {
  const selected = node.data.name === 'customTool' ? inputValue(node, 'selectedTool') : undefined;
  if (!tools || typeof selected !== 'string' || selected === '' || selected.startsWith(TOOL)) return;
  if (tools.has(selected)) return;
  const where = { path: `${path}/data/inputs/selectedTool`, subject: `${node.id} ${selected}` };
  const message = `The tool that ${mention(node)} selects is not on this server; use the id of a stored one, or create_tool.`;
  findings.error('tool_unknown', where, message);
}
