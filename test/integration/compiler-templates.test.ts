import { describe, expect, it } from 'vitest';
import { compile, EMPTY_FLOW } from '../../src/flowise/compiler/compile.ts';
import type { PatchOp } from '../../src/flowise/compiler/ops.ts';
import { opsFor } from '../../src/flowise/compiler/rebuild.ts';
import { validateFlow } from '../../src/flowise/compiler/validate.ts';
import type { FlowData, FlowNode } from '../../src/flowise/flow/model.ts';
import {
  add,
  bind,
  changedPaths,
  codes,
  link,
  nodeOf,
  put,
  recordedSchemas,
  unlink,
} from '../support/compiler-scene.ts';
import { checkCanvas } from '../support/fake-flowise/canvas.ts';
import {
  RECORDED_CHATFLOWS,
  recordedAgentflow,
  recordedChatflow,
  recordedTemplates,
} from '../support/fake-flowise/data.ts';

const schemas = recordedSchemas();
const TEMPLATES = recordedTemplates().flatMap(({ templateName, type, flowData }) =>
  flowData === undefined
    ? []
    : [{ name: `${type} ${templateName}`, type, text: flowData, flow: JSON.parse(flowData) as FlowData }],
);
const CHATFLOWS = TEMPLATES.filter(({ type }) => type === 'Chatflow');
const isReal = (node: FlowNode) => node.type !== 'stickyNote';

/** A parameter that takes any text, of some node of the flow. */
function someText(flow: FlowData): { node: string; name: string; index: number } {
  for (const [index, node] of flow.nodes.entries()) {
    const names = (node.data.inputParams ?? []).filter(({ type }) =>
      ['string', 'number', 'asyncOptions'].includes(type),
    );
    const name = names[0]?.name;
    if (isReal(node) && name !== undefined) return { node: node.id, name, index };
  }
  throw new Error('no parameter');
}

/** Some node type that gives what an input takes. */
function giverOf(types: string): { type: string; output: string } | null {
  const wanted = types.split('|').map((type) => type.trim());
  for (const type of schemas.names()) {
    const schema = schemas.get(type);
    const output = schema?.output_anchors.find(({ baseClasses }) => baseClasses.some((each) => wanted.includes(each)));
    if (schema && schema.category !== 'Agent Flows' && output) return { type, output: output.name };
  }
  return null;
}

describe('the recorded templates', () => {
  it('are 37 flows, each returned as it is for an empty list [FLR-compile-empty]', () => {
    expect(TEMPLATES).toHaveLength(37);
    for (const { name, text } of TEMPLATES) {
      const compilation = compile(text, [], schemas);
      expect(compilation.flow_data_str === text, name).toBe(true);
      expect(compilation.ok, name).toBe(true);
    }
  });

  it('change in exactly one place by one set_param or set_label, notes and unknown fields kept [FLR-set-param-one-path] [FLR-agentflow]', () => {
    for (const { name, text, flow } of TEMPLATES) {
      const place = someText(flow);
      const set = compile(text, [put(place.node, place.name, '7')], schemas);
      expect(set.ok, name).toBe(true);
      expect(changedPaths(flow, set.flow_data), name).toEqual([`/nodes/${place.index}/data/inputs/${place.name}`]);
      const labelled = compile(text, [{ op_type: 'set_label', node_id: place.node, label: 'Another' }], schemas);
      expect(changedPaths(flow, labelled.flow_data), name).toEqual([`/nodes/${place.index}/data/label`]);
    }
  });

  it('keep fields nobody knows, sticky notes and the viewport through any change [FLR-unknown-fields]', () => {
    for (const { name, flow } of TEMPLATES) {
      const strange = structuredClone(flow) as FlowData & Record<string, unknown>;
      strange.viewport = { x: 3, y: 4, zoom: 0.7 };
      strange.future = { of: ['flowise'] };
      for (const node of strange.nodes) Object.assign(node, { style: { a: 1 }, extent: 'parent' });
      for (const edge of strange.edges) Object.assign(edge, { data: { label: 'x' }, animated: true });
      const place = someText(strange);
      const { flow_data } = compile(JSON.stringify(strange), [put(place.node, place.name, '7')], schemas);
      expect(changedPaths(strange, flow_data), name).toHaveLength(1);
      expect(flow_data.nodes.filter((node) => !isReal(node))).toEqual(strange.nodes.filter((node) => !isReal(node)));
    }
  });

  it('are equal again after add and remove, and after connect and disconnect, at every input [FLR-inverse]', () => {
    let connected = 0;
    for (const { name, text, flow } of CHATFLOWS) {
      const leave: PatchOp = { op_type: 'remove_node', node_id: 'visitor' };
      expect(compile(text, [add('calculator', 'visitor'), leave], schemas).flow_data, name).toEqual(flow);
      const taken = new Set(flow.edges.map(({ targetHandle }) => targetHandle));
      for (const node of flow.nodes) {
        for (const anchor of node.data.inputAnchors ?? []) {
          const giver = giverOf(anchor.type);
          if (!giver || (taken.has(anchor.id) && anchor.list !== true)) continue;
          const ends = [`visitor.${giver.output}`, `${node.id}.${anchor.name}`] as const;
          const ops = [add(giver.type, 'visitor'), link(...ends), unlink(...ends), leave];
          const there = compile(text, ops, schemas);
          expect(codes(there.errors), name).toEqual([]);
          expect(there.flow_data_str === text, `${name} ${node.id} ${anchor.name}`).toBe(true);
          connected += 1;
        }
      }
    }
    expect(connected).toBeGreaterThan(60);
  });

  it('lose a connection and get it back, in any input [FLR-inverse]', () => {
    for (const { name, text, flow } of CHATFLOWS) {
      for (const edge of flow.edges) {
        const outputs = (nodeOf(flow, edge.source).data.outputAnchors ?? []).flatMap(
          (anchor) => anchor.options ?? [anchor],
        );
        const output = outputs.find(({ id }) => id === edge.sourceHandle);
        const { inputAnchors = [], inputParams = [] } = nodeOf(flow, edge.target).data;
        const input = [...inputAnchors, ...inputParams].find(({ id }) => id === edge.targetHandle);
        if (!output || !input) continue;
        const ends = [`${edge.source}.${output.name}`, `${edge.target}.${input.name}`] as const;
        const back = compile(text, [unlink(...ends), link(...ends)], schemas);
        expect(codes(back.errors), name).toEqual([]);
        const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
        expect(back.diff.connections_added, name).toEqual([]);
        expect(back.flow_data.edges.map(({ id }) => ({ id })).sort(byId)).toEqual(
          flow.edges.map(({ id }) => ({ id })).sort(byId),
        );
      }
    }
  });

  it('rebuilt from nothing on the node types of today: 22 of 22 are accepted [FLR-rebuild-templates]', () => {
    const rebuildable = CHATFLOWS.filter(({ flow }) => flow.nodes.every((node) => schemas.get(String(node.data.name))));
    expect(rebuildable).toHaveLength(22);
    const mapped: string[] = [];
    for (const { name, flow } of rebuildable) {
      const rebuild = opsFor(flow, schemas);
      const first = compile(EMPTY_FLOW, rebuild.ops, schemas);
      // Templates come without credentials, files and names of indexes; nothing else is missing.
      const other = codes(first.errors).filter((code) => code !== 'credential_missing' && code !== 'input_missing');
      expect(other, name).toEqual([]);
      const whole = compile(EMPTY_FLOW, [...rebuild.ops, ...filledIn(first.flow_data, first.errors)], schemas);
      expect(codes(whole.errors), name).toEqual([]);
      expect(validateFlow(whole.flow_data, { schemas }).errors).toEqual([]);
      expect(checkCanvas(whole.flow_data), name).toEqual([]);
      expect(whole.flow_data.nodes.map(({ id }) => id)).toEqual(flow.nodes.map(({ id }) => id));
      expect(whole.flow_data.edges).toHaveLength(flow.edges.length);
      expect(rebuild.dropped.filter(({ what }) => what !== 'param')).toEqual([]);
      mapped.push(...rebuild.mapped.map(({ node, from, to }) => `${node} ${from} → ${to}`));
    }
    expect(mapped.sort()).toEqual([
      'github_0 github → document',
      'pineconeLlamaIndex_0 pineconeLlamaIndex → retriever',
      'pineconeLlamaIndex_0 pineconeLlamaIndex → retriever',
    ]);
  });
});

/** What a person would fill in: exactly the places that the validator names. */
function filledIn(flow: FlowData, errors: readonly { code: string; path: string }[]): PatchOp[] {
  return errors.map(({ code, path }) => {
    const [, , index, , , name = ''] = path.split('/');
    const node = flow.nodes[Number(index)];
    if (!node) throw new Error(path);
    if (code === 'credential_missing') return bind(node.id);
    const type = node.data.inputParams?.find((param) => param.name === name)?.type;
    return put(node.id, name, type === 'asyncMultiOptions' ? ['x'] : 'x');
  });
}

describe('the recorded chatflows that answered on a real server', () => {
  it.each(RECORDED_CHATFLOWS)('%s is rebuilt with everything the server needs [FLR-rebuild-recorded]', (name) => {
    const { flowData } = recordedChatflow(name);
    const { ops, mapped, dropped } = opsFor(flowData, schemas);
    expect({ mapped, dropped }).toEqual({ mapped: [], dropped: [] });
    const { ok, flow_data, errors } = compile(EMPTY_FLOW, ops, schemas);
    expect(errors).toEqual([]);
    expect(ok).toBe(true);
    expect(needed(flow_data)).toEqual(needed(flowData));
    expect(checkCanvas(flow_data)).toEqual([]);
  });
});

/** What the server reads at run time; the rest is for the canvas. */
function needed({ nodes, edges }: FlowData) {
  return {
    nodes: nodes.map(({ id, data }) => ({
      id,
      data: [data.id, data.name, data.label, data.category, data.credential, data.outputs],
      inputs: data.inputs,
      inputParams: data.inputParams?.map(({ id, name, type }) => ({ id, name, type })),
    })),
    edges: edges
      .map(({ source, target, sourceHandle, targetHandle }) => [source, target, sourceHandle, targetHandle].join(' '))
      .sort(),
  };
}

describe('an agentflow of the second generation', () => {
  const text = JSON.stringify(recordedAgentflow());

  it('binds the credential of the model that a node runs [FLR-agentflow]', () => {
    const { ok, flow_data, errors } = compile(text, [bind('llmAgentflow_0', 'another')], schemas);
    expect(errors).toEqual([]);
    expect(ok).toBe(true);
    expect(changedPaths(JSON.parse(text), flow_data)).toEqual([
      '/nodes/1/data/inputs/llmModelConfig/credential',
      '/nodes/1/data/inputs/llmModelConfig/FLOWISE_CREDENTIAL_ID',
    ]);
    const wrong = compile(text, [{ ...bind('llmAgentflow_0'), credential_type: 'pineconeApi' } as PatchOp], schemas);
    expect(codes(wrong.errors)).toEqual(['credential_type_mismatch']);
    expect(codes(compile(text, [bind('startAgentflow_0')], schemas).errors)).toEqual(['credential_type_mismatch']);
  });

  it('is incomplete while a model or tool that it runs lacks its credential [FLR-validate-components]', () => {
    const flow = () => JSON.parse(text) as FlowData;
    const judged = (changed: FlowData, credentials?: string[]) =>
      validateFlow(changed, { schemas, ...(credentials ? { credentials } : {}) });
    const config = (changed: FlowData) =>
      nodeOf(changed, 'llmAgentflow_0').data.inputs.llmModelConfig as FlowNode['data'];
    expect(judged(flow()).valid).toBe(true);
    const bare = flow();
    Object.assign(config(bare), { credential: '', FLOWISE_CREDENTIAL_ID: undefined });
    expect(judged(bare).errors).toEqual([
      {
        code: 'credential_missing',
        message: expect.stringMatching(/^chatOpenAI in llmAgentflow_0 .*needs a credential \(openAIApi\); bind one\.$/),
        path: '/nodes/1/data/inputs/llmModelConfig',
      },
    ]);
    expect(validateFlow(bare, { schemas, incomplete: 'warn' }).valid).toBe(true);
    expect(compile(JSON.stringify(bare), [bind('llmAgentflow_0')], schemas).warnings).toEqual([]);
    expect(codes(judged(flow(), ['other']).errors)).toEqual(['credential_unknown']);
    const none = flow();
    delete nodeOf(none, 'llmAgentflow_0').data.inputs.llmModelConfig;
    expect(codes(judged(none).errors)).toEqual(['credential_missing']);
    const local = flow();
    Object.assign(nodeOf(local, 'llmAgentflow_0').data.inputs, { llmModel: 'chatOllama', llmModelConfig: {} });
    expect(judged(local).errors).toEqual([]);
  });

  it('of the marketplace waits for credentials, tools included [FLR-validate-components]', () => {
    const agentflows = TEMPLATES.filter(({ type }) => type === 'AgentflowV2');
    const missing = agentflows.filter(({ flow }) => !validateFlow(flow, { schemas }).valid);
    expect(agentflows.length - missing.length).toBeLessThanOrEqual(1);
    const handoff = agentflows.find(({ name }) => name.includes('Agents Handoff'))?.flow as FlowData;
    const told = validateFlow(handoff, { schemas }).errors.filter(({ path }) => path.includes('/agentTools/'));
    expect(told).toHaveLength(1);
    expect(told[0]?.message).toContain('googleCustomSearch in agentAgentflow_1');
    expect(told[0]?.message).toContain('FLOWISE_CREDENTIAL_ID in agentTools.0.agentSelectedToolConfig');
  });

  it('loses a node with its edges, and refuses to be built or wired [FLR-agentflow]', () => {
    const removed = compile(text, [{ op_type: 'remove_node', node_id: 'llmAgentflow_0' }], schemas);
    expect(removed.ok).toBe(true);
    expect(removed.flow_data.edges).toEqual([]);
    const ops = [
      add('llmAgentflow', 'llmAgentflow_1'),
      add('calculator', 'calculator_0'),
      link('startAgentflow_0.startAgentflow', 'llmAgentflow_0.x'),
      unlink('startAgentflow_0.startAgentflow', 'llmAgentflow_0.x'),
    ];
    expect(new Set(codes(compile(text, ops, schemas).errors))).toEqual(new Set(['agentflow_unsupported']));
  });

  it('keeps an iteration whole: what holds other nodes is not removed [FLR-agentflow]', () => {
    const iterations = TEMPLATES.find(({ flow }) => flow.nodes.some(({ type }) => type === 'iteration'));
    const parent = iterations?.flow.nodes.find(({ type }) => type === 'iteration')?.id ?? '';
    const { errors } = compile(iterations?.text ?? '', [{ op_type: 'remove_node', node_id: parent }], schemas);
    expect(codes(errors)).toEqual(['node_has_children']);
  });
});
