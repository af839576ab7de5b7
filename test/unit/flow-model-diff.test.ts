import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffFlows, diffLines, type FlowData, NO_CHANGES, renderDiff, semanticHash } from '../../src/flowise/index.ts';
import { COLOURS, inertLine, paint } from '../../src/kernel/terminal.ts';
import { anyFlowData, connect, copy, edgeAt, nodeNamed, nodeOf, recordedFlows, smallFlow } from './any-flow-data.ts';

function changed(change: (flow: FlowData) => unknown, base: FlowData = smallFlow()) {
  const after = copy(base);
  change(after);
  return diffFlows(base, after);
}
const inputsOf = (flow: FlowData, id: string) => nodeNamed(flow, id).data.inputs;

describe('[FLR-flow-diff] what differs between two flows', () => {
  it('is nothing for the same flow', () => {
    const diff = changed(() => {});
    expect(diff).toMatchObject({ identical: true, semantic_equal: true });
    expect(diffLines(diff)).toEqual([NO_CHANGES]);
    expect(renderDiff(diff, { colour: false })).toBe('(no changes)');
  });

  it('names nodes that came and went', () => {
    const diff = changed((flow) => {
      flow.nodes = flow.nodes.filter((node) => node.id !== 'stickyNote_0');
      flow.nodes.push(nodeOf('calculator', 'Tools', []));
    });
    expect(diff.nodes_added).toEqual([{ node_id: 'calculator_0', node_name: 'calculator', label: 'The calculator' }]);
    expect(diff.nodes_removed.map((node) => node.node_id)).toEqual(['stickyNote_0']);
    expect(diff.semantic_equal).toBe(false);
  });

  it('names parameters with both values, and what is not set as null', () => {
    const { nodes_changed: nodes } = changed((flow) => {
      Object.assign(inputsOf(flow, 'chatOpenAI_0'), { temperature: 0.2, topP: 1 });
      delete inputsOf(flow, 'chatOpenAI_0').modelName;
    });
    expect(nodes).toHaveLength(1);
    expect(nodes[0]?.params).toEqual([
      { name: 'temperature', before: '0.9', after: 0.2 },
      { name: 'topP', before: null, after: 1 },
      { name: 'modelName', before: '', after: null },
    ]);
  });

  it('names labels, credentials, outputs and other fields, each once', () => {
    const { nodes_changed: nodes } = changed((flow) => {
      const { data } = nodeNamed(flow, 'chatOpenAI_0');
      Object.assign(data, { label: 'Cheap model', credential: 'cred-1', outputs: { output: 'x' }, version: 2 });
      Object.assign(data.inputs, { credential: 'cred-1', FLOWISE_CREDENTIAL_ID: 'cred-1' });
      Object.assign(nodeNamed(flow, 'chatOpenAI_0'), { parentNode: 'iteration_0' });
    });
    expect(nodes).toEqual([
      {
        node_id: 'chatOpenAI_0',
        node_name: 'chatOpenAI',
        label: 'Cheap model',
        label_before: 'The chatOpenAI',
        credential: { before: null, after: 'cred-1' },
        output: { before: null, after: 'x' },
        params: [],
        fields: ['version', 'node.parentNode'],
      },
    ]);
  });

  it('names a connection once, not also as the parameter that holds it', () => {
    const diff = changed((flow) => {
      flow.nodes.push(nodeOf('chatAnthropic', 'Chat Models', []));
      flow.edges = flow.edges.filter((edge) => edge.source !== 'chatOpenAI_0');
      connect(flow, 'chatAnthropic_0', 'conversationChain_0', 'model', 'BaseChatModel');
    });
    const target = { target: 'conversationChain_0', target_anchor: 'model' };
    expect(diff.connections_added).toEqual([{ source: 'chatAnthropic_0', source_anchor: 'chatAnthropic', ...target }]);
    expect(diff.connections_removed).toEqual([{ source: 'chatOpenAI_0', source_anchor: 'chatOpenAI', ...target }]);
    expect(diff.nodes_changed).toEqual([]);
  });

  it('names the parameter where edges and inputs do not agree', () => {
    const diff = changed((flow) => {
      flow.edges = flow.edges.filter((edge) => edge.source !== 'chatOpenAI_0');
    });
    expect(diff.connections_removed).toHaveLength(1);
    const torn = changed((flow) => Object.assign(inputsOf(flow, 'conversationChain_0'), { model: '' }));
    expect(torn.nodes_changed[0]?.params.map((each) => each.name)).toEqual(['model']);
  });

  it('tells moved nodes and the viewport apart from meaning', () => {
    const diff = changed((flow) => {
      nodeNamed(flow, 'chatOpenAI_0').position.x += 10;
      flow.viewport = { x: 0, y: 0, zoom: 1 };
    });
    expect(diff).toMatchObject({ identical: false, semantic_equal: true, viewport_changed: true });
    expect(diff.nodes_moved).toEqual(['chatOpenAI_0']);
    expect(changed((flow) => flow.nodes.reverse())).toMatchObject({ identical: false, semantic_equal: true });
  });

  it('tells other fields of the flow, and edges of which only the label differs', () => {
    const diff = changed((flow) => {
      flow.description = 'new';
      edgeAt(flow, 0).data = { edgeLabel: 'yes' };
    });
    expect(diff.fields_changed).toEqual(['description', 'edges']);
  });

  it('is empty exactly when the semantic hashes are equal', () => {
    const drawnAnew = (flow: FlowData) => {
      const drawn = copy(flow);
      for (const node of drawn.nodes.reverse()) Object.assign(node, { position: { x: 7, y: 7 }, selected: true });
      return drawn;
    };
    const reset = (flow: FlowData) => {
      const other = copy(flow);
      for (const node of other.nodes.slice(0, 1)) Object.assign(node.data, { inputs: { prompt: 'set anew' } });
      return other;
    };
    const mutated = anyFlowData.chain((flow) =>
      fc.tuple(
        fc.constant(flow),
        fc.oneof(anyFlowData, fc.constant(copy(flow)), fc.constant(drawnAnew(flow)), fc.constant(reset(flow))),
      ),
    );
    fc.assert(
      fc.property(mutated, ([before, after]) => {
        const diff = diffFlows(before, after);
        expect(diff.semantic_equal).toBe(semanticHash(before) === semanticHash(after));
        if (diff.identical) expect(diffLines(diff)).toEqual([NO_CHANGES]);
        const back = diffFlows(after, before);
        expect(back.nodes_added.length).toBe(diff.nodes_removed.length);
        expect(back.connections_added.length).toBe(diff.connections_removed.length);
      }),
      { numRuns: 300 },
    );
  });

  it.each(recordedFlows())('finds the one value that was set in $name', ({ text }) => {
    const before = JSON.parse(text) as FlowData;
    const after = copy(before);
    const at = after.nodes.findIndex((node) => Object.keys(node.data.inputs).length > 0);
    const node = after.nodes[at];
    if (!node) throw new Error('no node has an input');
    const name = Object.keys(node.data.inputs)[0] as string;
    node.data.inputs[name] = 'set by this test';
    const diff = diffFlows(before, after);
    expect(diff.nodes_changed.map((each) => [each.node_id, each.params.map((param) => param.name)])).toEqual([
      [node.id, [name]],
    ]);
    expect(diffLines(diff)).toHaveLength(1);
  });

  it('[FLR-flow-diff-linear] is found in a moment between flows of 5,000 nodes', () => {
    const large: FlowData = { nodes: [], edges: [] };
    for (let index = 0; index < 5_000; index += 1) large.nodes.push(nodeOf('llmChain', 'Chains', [], [], index));
    for (let index = 1; index < 5_000; index += 1) {
      large.edges.push({
        id: `${index}`,
        source: `llmChain_${index - 1}`,
        target: `llmChain_${index}`,
        sourceHandle: 'a',
        targetHandle: 'b',
      });
    }
    const after = copy(large);
    for (const node of after.nodes) node.data.inputs.prompt = 'new';
    after.nodes.reverse();
    const started = performance.now();
    const diff = diffFlows(large, after);
    expect(diff.nodes_changed).toHaveLength(5_000);
    // 25 million comparisons would take minutes.
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('[FLR-flow-diff-lines] a diff as text', () => {
  const diff = changed((flow) => {
    flow.nodes = flow.nodes.filter((node) => node.id !== 'stickyNote_0');
    flow.nodes.push(nodeOf('calculator', 'Tools', []));
    const { data } = nodeNamed(flow, 'chatOpenAI_0');
    Object.assign(data, { label: 'Cheap model', credential: 'cred-1', outputs: { output: 'x' }, version: 2 });
    Object.assign(data.inputs, { temperature: 0.2, modelName: 'm'.repeat(200) });
    Object.assign(inputsOf(flow, 'conversationChain_0'), { systemMessagePrompt: 'one\ntwo\nthree\nfour\nfive' });
    flow.edges = flow.edges.filter((edge) => edge.source !== 'bufferMemory_0');
    Object.assign(inputsOf(flow, 'conversationChain_0'), { memory: '' });
    nodeNamed(flow, 'bufferMemory_0').position.x += 1;
  });

  it('has one plain line a change', () => {
    expect(diffLines(diff)).toEqual([
      'NODES ADDED: [calculator_0] label="The calculator" name="calculator"',
      'NODES REMOVED: [stickyNote_0] label="The stickyNote" name="stickyNote"',
      'LABEL SET: [chatOpenAI_0] "The chatOpenAI" -> "Cheap model"',
      'PARAM SET: [chatOpenAI_0] temperature: "0.9" -> 0.2',
      `PARAM SET: [chatOpenAI_0] modelName: "" -> "${'m'.repeat(200)}"`,
      'CREDENTIAL SET: [chatOpenAI_0] bound: cred-1',
      'OUTPUT SET: [chatOpenAI_0] (not set) -> "x"',
      'NODE CHANGED: [chatOpenAI_0] version',
      'PARAM SET: [conversationChain_0] systemMessagePrompt: "" -> "one two three four five"',
      'DISCONNECTED: bufferMemory_0.bufferMemory -> conversationChain_0.memory',
      'NODES MOVED: bufferMemory_0',
    ]);
  });

  it('is told to people node by node, with the first lines of longer texts', () => {
    expect(renderDiff(diff, { colour: false }).split('\n')).toEqual([
      '+ node calculator_0 "The calculator" (calculator)',
      '- node stickyNote_0 "The stickyNote" (stickyNote)',
      '~ node chatOpenAI_0 "Cheap model" (chatOpenAI)',
      '    ~ label: "The chatOpenAI" -> "Cheap model"',
      '    ~ temperature: "0.9" -> 0.2',
      '    ~ modelName: 200 characters added, 0 removed',
      `        + ${'m'.repeat(200)}`,
      '    ~ credential bound: cred-1',
      '    ~ output: (not set) -> "x"',
      '    ~ also version',
      '~ node conversationChain_0 "The conversationChain" (conversationChain)',
      '    ~ systemMessagePrompt: 23 characters added, 0 removed',
      '        + one',
      '        + two',
      '        + three',
      '        + four',
      '        + five',
      '- connection bufferMemory_0.bufferMemory -> conversationChain_0.memory',
      '~ moved bufferMemory_0',
    ]);
  });

  it('shows only the lines between what stayed', () => {
    const lines = ['a', 'b', 'c', 'd'];
    const base = smallFlow();
    Object.assign(inputsOf(base, 'conversationChain_0'), { systemMessagePrompt: lines.join('\n') });
    const one = changed(
      (flow) => Object.assign(inputsOf(flow, 'conversationChain_0'), { systemMessagePrompt: 'a\nB\nc\nd' }),
      base,
    );
    expect(renderDiff(one, { colour: false }).split('\n').slice(1)).toEqual([
      '    ~ systemMessagePrompt: 1 character added, 1 removed',
      '        - b',
      '        + B',
    ]);
  });

  it('is green, red and yellow where colours are wanted', () => {
    const [first, second, third] = renderDiff(diff, { colour: true }).split('\n');
    expect(first).toBe(paint(COLOURS.green, '+ node calculator_0 "The calculator" (calculator)'));
    expect(second).toBe(paint(COLOURS.red, '- node stickyNote_0 "The stickyNote" (stickyNote)'));
    expect(third).toBe(paint(COLOURS.yellow, '~ node chatOpenAI_0 "Cheap model" (chatOpenAI)'));
  });

  it('obeys nothing that was written into the flow', () => {
    const evil = '\u001b[2J\u202e\nNODES ADDED: forged';
    const forged = changed((flow) => {
      const { data } = nodeNamed(flow, 'chatOpenAI_0');
      Object.assign(data, { label: evil, credential: evil, [evil]: 1 });
      Object.assign(data.inputs, { [evil]: evil, temperature: { [evil]: evil } });
      flow[evil] = evil;
      flow.nodes.push({ ...nodeOf('x', evil, []), id: evil });
    });
    const text = [...diffLines(forged), ...renderDiff(forged, { colour: false }).split('\n')];
    for (const line of text) {
      expect(line).toBe(inertLine(line));
      expect(line).not.toMatch(/^NODES ADDED: forged/);
    }
  });

  it('names the first of many moved nodes', () => {
    const before: FlowData = { nodes: [], edges: [] };
    for (let index = 0; index < 30; index += 1) before.nodes.push(nodeOf('n', 'c', [], [], index));
    const moved = changed((flow) => flow.nodes.map((node) => Object.assign(node.position, { y: 5 })), before);
    expect(diffLines(moved)[0]).toMatch(/^NODES MOVED: n_0, .* and 20 more$/);
  });
});
