import { describe, expect, it } from 'vitest';
import type { FlowData } from '../../src/flowise/flow/model.ts';
import { nodeOf } from '../flowise/flows.ts';
import { checkCanvas } from '../support/fake-flowise/canvas.ts';
import { RECORDED_CHATFLOWS, recordedChatflow, recordedTemplates } from '../support/fake-flowise/data.ts';

const chain = () => recordedChatflow('working').flowData;
const edge = (flow: FlowData, at = 0) => flow.edges[at] as FlowData['edges'][number];

describe('what the canvas needs', () => {
  it.each(RECORDED_CHATFLOWS)('is there in %s, which it drew [FLR-fake-canvas]', (name) => {
    expect(checkCanvas(recordedChatflow(name).flowData)).toEqual([]);
  });

  it('is there in the templates that Flowise ships, old forms aside [FLR-fake-canvas]', () => {
    const faulty = recordedTemplates()
      .filter(({ type, flowData }) => type === 'Chatflow' && checkCanvas(flowData ?? '', 'drawn').length > 0)
      .map(({ templateName }) => templateName);
    expect(faulty).toEqual(TEMPLATES_WITH_FAULTS);
  });

  const FAULTS: readonly (readonly [string, RegExp, (flow: FlowData) => void])[] = [
    ['an edge whose source is gone', /source does not exist/, (flow) => Object.assign(edge(flow), { source: 'x_0' })],
    ['an edge whose target is gone', /target does not exist/, (flow) => Object.assign(edge(flow), { target: 'x_0' })],
    ['a handle that is no output', /no output is drawn/, (flow) => Object.assign(edge(flow), { sourceHandle: 'x' })],
    ['a handle that is no input', /no input is drawn/, (flow) => Object.assign(edge(flow), { targetHandle: 'x' })],
    ['an edge with an id of its own', /has the id x/, (flow) => Object.assign(edge(flow), { id: 'x' })],
    ['an edge twice', /is there twice/, (flow) => flow.edges.push({ ...edge(flow) })],
    ['a node twice', /is there twice/, (flow) => flow.nodes.push(structuredClone(nodeOf(flow, 'bufferMemory')))],
    ['two ids', /data.id is x/, (flow) => Object.assign(nodeOf(flow, 'bufferMemory').data, { id: 'x' })],
    ['no position', /has no position/, (flow) => Object.assign(nodeOf(flow, 'bufferMemory'), { position: {} })],
    ['no list of anchors', /is not a list/, (flow) => delete nodeOf(flow, 'bufferMemory').data.inputAnchors],
    ['an input without a value', /inputs has no/, (flow) => delete nodeOf(flow, 'bufferMemory').data.inputs.sessionId],
    [
      'an input with another id',
      /has the id x/,
      (flow) => Object.assign(nodeOf(flow, 'bufferMemory').data.inputParams?.[0] ?? {}, { id: 'x' }),
    ],
    [
      'a reference without an edge',
      /from which no edge comes/,
      (flow) => {
        flow.edges = flow.edges.filter(({ source }) => !source.startsWith('bufferMemory'));
      },
    ],
    [
      'an edge without a reference',
      /does not name it/,
      (flow) => Object.assign(nodeOf(flow, 'conversationChain').data.inputs, { memory: '' }),
    ],
    [
      'a list where one is taken',
      /holds a list/,
      (flow) =>
        Object.assign(nodeOf(flow, 'conversationChain').data.inputs, { model: ['{{chatOpenAI_0.data.instance}}'] }),
    ],
    [
      'types that do not meet',
      /gives nothing that its target takes/,
      (flow) => {
        const model = flow.edges.find(({ source }) => source === 'chatOpenAI_0');
        const memory = flow.edges.find(({ source }) => source === 'bufferMemory_0');
        if (model && memory) model.targetHandle = memory.targetHandle;
      },
    ],
  ];

  it.each(FAULTS)('%s is found [FLR-fake-canvas]', (_name, problem, spoil) => {
    const flow = chain();
    spoil(flow);
    expect(checkCanvas(flow).join('\n')).toMatch(problem);
  });

  it('an output that is not chosen is not drawn, nor a list written as one text [FLR-fake-canvas]', () => {
    const rag = recordedChatflow('rag').flowData;
    Object.assign(nodeOf(rag, 'memoryVectorStore').data, { outputs: { output: 'vectorStore' } });
    expect(checkCanvas(rag).join('\n')).toMatch(/no output is drawn/);
    const agent = recordedChatflow('toolagent').flowData;
    Object.assign(nodeOf(agent, 'toolAgent').data.inputs, { tools: '{{calculator_0.data.instance}}' });
    expect(checkCanvas(agent).join('\n')).toMatch(/holds no list/);
  });

  it('text that is no flow is said to be none [FLR-fake-canvas]', () => {
    expect(checkCanvas('no')).toEqual(['flowData is not JSON']);
    expect(checkCanvas('{}')).toEqual(['nodes is not a list', 'edges is not a list']);
  });
});

/** Each has an edge from a handle that no output of its node has any more. */
const TEMPLATES_WITH_FAULTS = ['Context Chat Engine', 'Query Engine'];
