import { describe, expect, it } from 'vitest';
import { type FlowData, summariseFlow, summaryText } from '../../src/flowise/index.ts';
import { recordedChatflow } from '../support/fake-flowise/data.ts';
import { nodeNamed, nodeOf, recordedFlows, smallFlow } from './any-flow-data.ts';

describe('[FLR-flow-summary] a flow in a few lines', () => {
  it('tells nodes, what is set on them, connections and where it ends', () => {
    const flow = smallFlow();
    Object.assign(nodeNamed(flow, 'chatOpenAI_0').data.inputs, {
      modelName: 'gpt-4o',
      temperature: 0.9,
      apiKey: 'hunter2',
    });
    nodeNamed(flow, 'chatOpenAI_0').data.credential = 'cred-1';
    nodeNamed(flow, 'stickyNote_0').data.inputs.note = 'long '.repeat(100);
    const summary = summariseFlow(flow);
    expect(summary).toMatchObject({
      node_count: 4,
      edge_count: 2,
      connections: ['chatOpenAI_0 -> conversationChain_0.model', 'bufferMemory_0 -> conversationChain_0.memory'],
      ending_nodes: ['conversationChain_0'],
    });
    expect(summary.nodes[0]).toEqual({
      node_id: 'chatOpenAI_0',
      node_name: 'chatOpenAI',
      label: 'The chatOpenAI',
      category: 'Chat Models',
      credential_bound: true,
      params: { modelName: 'gpt-4o', apiKey: '[secret]' },
    });
    expect(String(summary.nodes[3]?.params.note)).toHaveLength(80);
    expect(summaryText(summary).split('\n')).toEqual([
      '4 nodes, 2 connections, ends at conversationChain_0',
      '[chatOpenAI_0] "The chatOpenAI", credential bound: modelName="gpt-4o", apiKey="[secret]"',
      '[bufferMemory_0] "The bufferMemory"',
      '[conversationChain_0] "The conversationChain"',
      `[stickyNote_0] "The stickyNote": note="${'long '.repeat(100).slice(0, 79)}…"`,
      'connections:',
      'chatOpenAI_0 -> conversationChain_0.model',
      'bufferMemory_0 -> conversationChain_0.memory',
    ]);
  });

  it('names the output of a node that offers several, and a missing credential', () => {
    const { flowData } = recordedChatflow('rag');
    for (const node of flowData.nodes) if (node.data.credential) node.data.credential = '';
    const summary = summariseFlow(flowData);
    expect(summary.connections.some((line) => line.startsWith('memoryVectorStore_0.retriever -> '))).toBe(true);
    expect(summary.nodes.find((node) => node.node_id === 'chatOpenAI_0')?.credential_bound).toBe(false);
  });

  it.each(recordedFlows())('of $name tells every id in less than a tenth of it', ({ text }) => {
    const flow = JSON.parse(text) as FlowData;
    const told = summaryText(summariseFlow(flow));
    for (const node of flow.nodes) expect(told).toContain(`[${node.id}]`);
    expect(told.length).toBeLessThan(text.length / 10);
    expect(told.length).toBeLessThanOrEqual(2_000);
  });

  it('leaves out parameters, then connections, then labels, but no id while ids fit', () => {
    const flow: FlowData = { nodes: [], edges: [] };
    for (let index = 0; index < 40; index += 1) {
      const node = nodeOf('llmChain', 'Chains', [{ name: 'prompt', type: 'string' }], [], index);
      node.data.inputs.prompt = 'words '.repeat(20);
      flow.nodes.push(node);
    }
    const summary = summariseFlow(flow);
    for (const maxChars of [10_000, 2_000, 1_200, 700]) {
      const told = summaryText(summary, { maxChars });
      expect(told.length).toBeLessThanOrEqual(maxChars);
      for (const node of flow.nodes) expect(told).toContain(node.id);
    }
    expect(summaryText(summary, { maxChars: 2_000 })).not.toContain('words');
  });

  it('says how many ids it left out when not even those fit', () => {
    const flow: FlowData = { nodes: [], edges: [] };
    for (let index = 0; index < 5_000; index += 1) flow.nodes.push(nodeOf('llmChain', 'Chains', [], [], index));
    const told = summaryText(summariseFlow(flow), { maxChars: 500 });
    expect(told.length).toBeLessThanOrEqual(500);
    expect(told).toMatch(/… and 49\d\d more$/);
  });
});
