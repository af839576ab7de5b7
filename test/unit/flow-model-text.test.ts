import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FlowData,
  flowHash,
  inputNamed,
  MAX_FLOW_CHARS,
  MAX_FLOW_DEPTH,
  parseFlow,
  referencesIn,
  semanticHash,
  sourceAnchorOf,
  sourceHandles,
  summariseFlow,
  targetAnchorOf,
  targetHandles,
  viewOf,
} from '../../src/flowise/index.ts';
import { sha256Hex } from '../../src/kernel/hash.ts';
import { recordedAgentflow, recordedChatflow } from '../support/fake-flowise/data.ts';
import { anyFlowData, copy, edgeAt, nodeNamed, recordedFlows, smallFlow } from './any-flow-data.ts';

describe('[FLR-flow-parse] the text of a flow', () => {
  it.each(recordedFlows())('reads $name as it is', ({ text }) => {
    const parsed = parseFlow(text);
    expect(parsed.issues).toBeUndefined();
    expect(JSON.stringify(parsed.flow)).toBe(text);
  });

  it.each([
    ['nothing', '', [['invalid_json', '']]],
    ['no JSON', '{nodes', [['invalid_json', '']]],
    ['a list', '[]', [['invalid_type', '']]],
    ['null', 'null', [['invalid_type', '']]],
    [
      'no graph',
      '{}',
      [
        ['invalid_type', '/nodes'],
        ['invalid_type', '/edges'],
      ],
    ],
    ['no edges', '{"nodes":[]}', [['invalid_type', '/edges']]],
    ['a node without data', '{"nodes":[{"id":"a"}],"edges":[]}', [['invalid_type', '/nodes/0/data']]],
    ['a node that is none', '{"nodes":[null],"edges":[]}', [['invalid_type', '/nodes/0']]],
    ['a node without an id', '{"nodes":[{"id":"","data":{}}],"edges":[]}', [['invalid_type', '/nodes/0/id']]],
    ['an edge with one end', '{"nodes":[],"edges":[{"source":"a"}]}', [['invalid_type', '/edges/0/target']]],
  ])('of %s is refused with its place', (_, text, issues) => {
    expect(parseFlow(text).issues?.map(({ code, path }) => [code, path])).toEqual(issues);
  });

  it('is bounded in size and depth', () => {
    expect(parseFlow(' '.repeat(MAX_FLOW_CHARS + 1)).issues?.[0]?.code).toBe('too_big');
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(parseFlow(`{"nodes":[],"edges":[],"x":${deep}}`).issues?.[0]?.code).toBe('too_deep');
    const nested = '['.repeat(MAX_FLOW_DEPTH - 1) + ']'.repeat(MAX_FLOW_DEPTH - 1);
    expect(parseFlow(`{"nodes":[],"edges":[],"x":${nested}}`).issues).toBeUndefined();
    const edges = `[${'0,'.repeat(50_000)}0]`;
    expect(parseFlow(`{"nodes":[],"edges":${edges}}`).issues?.[0]).toMatchObject({ code: 'too_big', path: '/edges' });
    const broken = `{"nodes":[${'0,'.repeat(5_000)}0],"edges":[]}`;
    expect(parseFlow(broken).issues).toHaveLength(100);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const parsed = parseFlow(text);
        expect(parsed.flow === undefined).toBe((parsed.issues?.length ?? 0) > 0);
      }),
      { numRuns: 200 },
    );
  });

  it('has the SHA-256 of its text as its hash', () => {
    expect(flowHash('{"nodes":[],"edges":[]}')).toBe(sha256Hex('{"nodes":[],"edges":[]}'));
  });
});

describe('[FLR-flow-view] a node', () => {
  it('shows its inputs, outputs and handles', () => {
    const rag = recordedChatflow('rag').flowData;
    const store = viewOf(nodeNamed(rag, 'memoryVectorStore_0'));
    expect(store.outputs.map((output) => output.name)).toEqual(['retriever', 'vectorStore']);
    expect(store.chosenOutput).toBe('retriever');
    expect(inputNamed(store, 'embeddings')?.type).toBe('Embeddings');
    for (const edge of rag.edges) {
      expect(sourceHandles(viewOf(nodeNamed(rag, edge.source)))).toContain(edge.sourceHandle);
      expect(targetHandles(viewOf(nodeNamed(rag, edge.target)))).toContain(edge.targetHandle);
      const input = nodeNamed(rag, edge.target).data.inputs[targetAnchorOf(edge)];
      expect(referencesIn(input)).toContain(edge.source);
    }
  });

  it('of an agentflow is connected as a whole', () => {
    const flow = recordedAgentflow();
    const edge = edgeAt(flow, 0);
    expect(targetAnchorOf(edge)).toBe('');
    expect(sourceAnchorOf(edge)).not.toBe('');
    const view = viewOf(nodeNamed(flow, edge.target));
    expect(view).toMatchObject({ isAgentflow: true, isNote: false });
    expect(targetHandles(view)).toEqual([edge.target]);
  });

  it('may lack everything but its id', () => {
    const view = viewOf({ id: 'x', data: {} } as FlowData['nodes'][number]);
    expect(view).toMatchObject({ name: '', label: '', values: {}, anchors: [], params: [], outputs: [] });
    expect(view.credential).toBeNull();
  });

  it('may hold anything anywhere', () => {
    fc.assert(
      fc.property(anyFlowData, (flow) => {
        for (const node of flow.nodes) {
          const view = viewOf(node);
          expect([...sourceHandles(view), ...targetHandles(view)].every((id) => typeof id === 'string')).toBe(true);
        }
        expect(summariseFlow(flow).nodes).toHaveLength(flow.nodes.length);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['', []],
    [undefined, []],
    ['{{a_0.data.instance}}', ['a_0']],
    [
      ['{{a_0.data.instance}}', '{{b_1.data.instance}}'],
      ['a_0', 'b_1'],
    ],
    ['{{question}}', null],
    ['see {{a_0.data.instance}}', null],
    [7, null],
  ])('refers by %j to %j', (value, sources) => {
    expect(referencesIn(value)).toEqual(sources);
  });
});

describe('[FLR-flow-meaning] what a flow means', () => {
  const drawing: [string, (flow: FlowData) => unknown][] = [
    ['a moved node', (flow) => Object.assign(nodeNamed(flow, 'chatOpenAI_0').position, { x: 900 })],
    [
      'a measured node',
      (flow) => Object.assign(nodeNamed(flow, 'chatOpenAI_0'), { width: 1, height: 2, measured: {} }),
    ],
    ['a selected node', (flow) => Object.assign(nodeNamed(flow, 'chatOpenAI_0'), { selected: true, dragging: true })],
    ['selected data', (flow) => Object.assign(nodeNamed(flow, 'chatOpenAI_0').data, { selected: true })],
    [
      'a lifted node',
      (flow) => Object.assign(nodeNamed(flow, 'chatOpenAI_0'), { zIndex: 5, positionAbsolute: { x: 1 } }),
    ],
    [
      'an input that is shown',
      (flow) => Object.assign(nodeNamed(flow, 'chatOpenAI_0').data.inputParams?.[0] ?? {}, { display: true }),
    ],
    ['the viewport', (flow) => Object.assign(flow, { viewport: { x: 0, y: 0, zoom: 2 } })],
    ['no viewport', (flow) => delete flow.viewport],
    ['the order of nodes', (flow) => flow.nodes.reverse()],
    ['the order of edges', (flow) => flow.edges.reverse()],
    [
      'an animated edge',
      (flow) => Object.assign(edgeAt(flow, 0), { animated: true, style: { stroke: 'red' }, selected: true }),
    ],
    ['the id of an edge', (flow) => Object.assign(edgeAt(flow, 0), { id: 'other' })],
    ['the colours of an edge', (flow) => Object.assign(edgeAt(flow, 0), { data: { sourceColor: 'red', label: '' } })],
    ['our stamp', (flow) => Object.assign(flow, { flowright: { write_id: 'w1' } })],
  ];

  it.each(drawing)('does not change with %s', (_, draw) => {
    const flow = smallFlow();
    draw(flow);
    expect(semanticHash(flow)).toBe(semanticHash(smallFlow()));
  });

  const writing: [string, (flow: FlowData) => unknown][] = [
    ['a value', (flow) => Object.assign(nodeNamed(flow, 'chatOpenAI_0').data.inputs, { temperature: '0.2' })],
    ['a label', (flow) => Object.assign(nodeNamed(flow, 'chatOpenAI_0').data, { label: 'Other' })],
    ['a credential', (flow) => Object.assign(nodeNamed(flow, 'chatOpenAI_0').data, { credential: 'c' })],
    ['the text of a note', (flow) => Object.assign(nodeNamed(flow, 'stickyNote_0').data.inputs, { note: 'read me' })],
    ['an output', (flow) => Object.assign(nodeNamed(flow, 'chatOpenAI_0').data, { outputs: { output: 'x' } })],
    ['an unknown field', (flow) => Object.assign(nodeNamed(flow, 'chatOpenAI_0').data, { unheardOf: 1 })],
    ['the parent of a node', (flow) => Object.assign(nodeNamed(flow, 'chatOpenAI_0'), { parentNode: 'iteration_0' })],
    ['a removed node', (flow) => flow.nodes.pop()],
    ['a removed edge', (flow) => flow.edges.pop()],
    ['an edge drawn twice', (flow) => flow.edges.push(copy(edgeAt(flow, 0)))],
    [
      'another handle',
      (flow) => Object.assign(edgeAt(flow, 0), { targetHandle: 'conversationChain_0-input-model-Other' }),
    ],
    ['the label of an edge', (flow) => Object.assign(edgeAt(flow, 0), { data: { edgeLabel: 'proceed' } })],
    ['a field of the flow', (flow) => Object.assign(flow, { description: 'other' })],
  ];

  it.each(writing)('changes with %s', (_, write) => {
    const flow = smallFlow();
    write(flow);
    expect(semanticHash(flow)).not.toBe(semanticHash(smallFlow()));
  });

  it('does not depend on order and drawing in any flow', () => {
    fc.assert(
      fc.property(anyFlowData, fc.integer(), (flow, x) => {
        const drawn = copy(flow);
        drawn.nodes.reverse();
        drawn.edges.reverse();
        for (const node of drawn.nodes) Object.assign(node, { position: { x, y: 1 }, selected: true });
        for (const edge of drawn.edges) Object.assign(edge, { animated: true, id: `edge ${x}` });
        Object.assign(drawn, { viewport: { x, y: 0, zoom: 1 }, flowright: { write_id: 'w' } });
        expect(semanticHash(drawn)).toBe(semanticHash(flow));
      }),
      { numRuns: 200 },
    );
  });
});
