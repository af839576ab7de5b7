import type { FlowData, FlowEdge, FlowInput, FlowNode, FlowOutput } from '../../../src/flowise/flow/model.ts';

/**
 * What Flowise's own canvas needs of a flow in order to draw it whole: a handle that an edge names must be one that is
 * drawn, a value must have the form that its widget reads, and an input must say what its edges say. Returns one
 * sentence a problem. Written from the behaviour of the canvas, not from our compiler, which it judges. `drawn` forgives
 * what older versions left behind and the canvas copes with: ids of parameters, and values that are not there.
 */
export function checkCanvas(flow: FlowData | string, form: 'complete' | 'drawn' = 'complete'): string[] {
  const problems: string[] = [];
  let parsed: FlowData;
  try {
    parsed = typeof flow === 'string' ? (JSON.parse(flow) as FlowData) : flow;
  } catch {
    return ['flowData is not JSON'];
  }
  if (!Array.isArray(parsed?.nodes)) problems.push('nodes is not a list');
  if (!Array.isArray(parsed?.edges)) problems.push('edges is not a list');
  if (problems.length > 0) return problems;
  const nodes = new Map<string, FlowNode>();
  for (const node of parsed.nodes) {
    if (nodes.has(node.id)) problems.push(`node ${node.id} is there twice`);
    nodes.set(node.id, node);
    problems.push(...checkNode(node, form));
  }
  problems.push(...checkEdges(parsed.edges, nodes), ...checkReferences(parsed.edges, nodes));
  return problems;
}

const WIDGETS_OF_SECOND_GENERATION = new Set(['agentFlow', 'iteration']);

/** Nodes of the second generation of agent flows have handles of another form. */
function isSecondGeneration(node: FlowNode | undefined): boolean {
  return WIDGETS_OF_SECOND_GENERATION.has(node?.type ?? '');
}

function checkNode(node: FlowNode, form: 'complete' | 'drawn'): string[] {
  const problems: string[] = [];
  const say = (problem: string) => problems.push(`node ${node.id}: ${problem}`);
  const { data } = node;
  if (!data || typeof data !== 'object') return [`node ${node.id}: has no data`];
  if (data.id !== node.id) say(`data.id is ${data.id}`);
  if (String(node.id).includes('-')) say('its id holds a dash, at which handles are split');
  if (!Number.isFinite(node.position?.x) || !Number.isFinite(node.position?.y)) say('has no position');
  if (!data.inputs || typeof data.inputs !== 'object' || Array.isArray(data.inputs)) say('inputs is no object');
  for (const list of ['inputParams', 'inputAnchors', 'outputAnchors'] as const) {
    if (!Array.isArray(data[list])) say(`${list} is not a list`);
  }
  if (problems.length > 0 || node.type === 'stickyNote') return problems;
  const inputs = form === 'complete' ? [...(data.inputParams ?? []), ...(data.inputAnchors ?? [])] : [];
  for (const input of inputs) {
    const expected = `${node.id}-input-${input.name}-${input.type}`;
    if (input.id !== expected) say(`input ${input.name} has the id ${input.id}, not ${expected}`);
    if (input.name !== 'credential' && !(input.name in data.inputs)) say(`inputs has no ${input.name}`);
  }
  const credential = (data.inputParams ?? []).findIndex(({ type }) => type === 'credential');
  if (credential > 0) say('its credential is not the first parameter');
  if (credential >= 0 && data.credential !== undefined && typeof data.credential !== 'string')
    say('credential is no text');
  if (!isSecondGeneration(node)) problems.push(...checkOutputs(node, form));
  return problems;
}

function checkOutputs(node: FlowNode, form: 'complete' | 'drawn'): string[] {
  const problems: string[] = [];
  const say = (problem: string) => problems.push(`node ${node.id}: ${problem}`);
  for (const anchor of node.data.outputAnchors ?? []) {
    if (anchor.type !== 'options') {
      if (!isOutputId(anchor, node, form)) say(`output ${anchor.name} has the id ${anchor.id}`);
      continue;
    }
    const options = anchor.options ?? [];
    if (options.length === 0) say('offers no output');
    for (const option of options) {
      if (!isOutputId(option, node, form)) say(`output ${option.name} has the id ${option.id}`);
    }
    const chosen = node.data.outputs?.[anchor.name];
    if (!options.some(({ name }) => name === chosen))
      say(`outputs.${anchor.name} is ${String(chosen)}, which it does not offer`);
  }
  return problems;
}

function isOutputId({ id, name }: FlowOutput, node: FlowNode, form: 'complete' | 'drawn'): boolean {
  return String(id).startsWith(`${node.id}-output-${form === 'complete' ? `${name}-` : ''}`);
}

/** Handles that are drawn: of a choice of outputs only the chosen one is. */
function drawnOutputs(node: FlowNode): FlowOutput[] {
  return (node.data.outputAnchors ?? []).flatMap((anchor) => {
    if (anchor.type !== 'options') return [anchor];
    const chosen = node.data.outputs?.[anchor.name];
    return (anchor.options ?? []).filter((option) => option.isAnchor === true || option.name === chosen);
  });
}

function drawnInputs(node: FlowNode): FlowInput[] {
  const params = (node.data.inputParams ?? []).filter(({ acceptVariable }) => acceptVariable === true);
  return [...(node.data.inputAnchors ?? []), ...params];
}

function checkEdges(edges: readonly FlowEdge[], nodes: ReadonlyMap<string, FlowNode>): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  const taken = new Map<string, number>();
  for (const edge of edges) {
    const say = (problem: string) => problems.push(`edge ${edge.source} → ${edge.target}: ${problem}`);
    if (seen.has(edge.id)) say('is there twice');
    seen.add(edge.id);
    const source = nodes.get(edge.source);
    const target = nodes.get(edge.target);
    if (!source) say('its source does not exist');
    if (!target) say('its target does not exist');
    if (!source || !target) continue;
    if (edge.id !== `${edge.source}-${edge.sourceHandle}-${edge.target}-${edge.targetHandle}`)
      say(`has the id ${edge.id}`);
    if (isSecondGeneration(source) || isSecondGeneration(target)) continue;
    if (edge.type !== 'buttonedge') say(`is of type ${edge.type}`);
    if (!drawnOutputs(source).some(({ id }) => id === edge.sourceHandle))
      say(`no output is drawn as ${edge.sourceHandle}`);
    const input = drawnInputs(target).find(({ id }) => id === edge.targetHandle);
    if (!input) say(`no input is drawn as ${edge.targetHandle}`);
    else if (input.list !== true && !input.acceptVariable) {
      const count = (taken.get(edge.targetHandle) ?? 0) + 1;
      taken.set(edge.targetHandle, count);
      if (count > 1) say(`input ${input.name} takes one edge`);
    }
    if (!input?.acceptVariable && !shareType(edge)) say('gives nothing that its target takes');
  }
  return problems;
}

function shareType({ sourceHandle, targetHandle }: FlowEdge): boolean {
  const types = (handle: string) => (handle.split('-').at(-1) ?? '').split('|').map((type) => type.trim());
  const given = types(String(sourceHandle));
  return types(String(targetHandle)).some((type) => given.includes(type));
}

const REFERENCE = /^\{\{([^{}]+)\.data\.instance\}\}$/;

/** The value of an anchor names exactly the nodes that its edges come from. */
function checkReferences(edges: readonly FlowEdge[], nodes: ReadonlyMap<string, FlowNode>): string[] {
  const problems: string[] = [];
  for (const node of nodes.values()) {
    if (isSecondGeneration(node)) continue;
    for (const anchor of node.data?.inputAnchors ?? []) {
      const value = node.data.inputs?.[anchor.name];
      const say = (problem: string) => problems.push(`node ${node.id}: input ${anchor.name} ${problem}`);
      const sources = edges.filter(({ target, targetHandle }) => target === node.id && targetHandle === anchor.id);
      if (value !== undefined && value !== '' && value !== null && Array.isArray(value) !== (anchor.list === true)) {
        say(anchor.list ? 'takes several and holds no list' : 'takes one and holds a list');
        continue;
      }
      const named = (Array.isArray(value) ? value : [value ?? '']).filter((each) => each !== '').map(String);
      const ids = named.map((each) => REFERENCE.exec(each)?.[1] ?? each);
      for (const id of ids)
        if (!sources.some(({ source }) => source === id)) say(`names ${id}, from which no edge comes`);
      for (const { source } of sources)
        if (!ids.includes(source)) say(`has an edge from ${source} and does not name it`);
      if (new Set(ids).size !== ids.length) say('names a node twice');
    }
  }
  return problems;
}
