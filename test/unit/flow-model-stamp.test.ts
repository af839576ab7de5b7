import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FlowData,
  finalise,
  isFinalOf,
  semanticHash,
  stampFlow,
  stampOf,
  toolPlaceholder,
  toolRefsIn,
  unstampFlow,
} from '../../src/flowise/index.ts';
import { anyFlowData, nodeNamed, nodeOf, recordedFlows, smallFlow } from './any-flow-data.ts';

describe('[FLR-flow-stamp] the stamp of a write', () => {
  it.each(recordedFlows())('leaves $name as it was when removed', ({ text }) => {
    const stamped = stampFlow(text, 'write-1');
    expect(stampOf(text)).toBeNull();
    expect(stampOf(stamped)).toBe('write-1');
    expect(unstampFlow(stamped)).toBe(text);
    expect(semanticHash(JSON.parse(stamped))).toBe(semanticHash(JSON.parse(text)));
  });

  it('can be set and removed on any flow', () => {
    fc.assert(
      fc.property(anyFlowData, fc.string(), fc.boolean(), (flow, writeId, spaced) => {
        const { flowright: _, ...plain } = flow;
        const text = JSON.stringify(plain, null, spaced ? 2 : 0);
        expect(unstampFlow(stampFlow(text, writeId))).toBe(JSON.stringify(JSON.parse(text)));
        expect(stampOf(stampFlow(text, writeId))).toBe(writeId);
        expect(stampFlow(stampFlow(JSON.stringify(flow), 'other'), writeId)).toBe(
          stampFlow(JSON.stringify(flow), writeId),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('keeps what else stands beside it', () => {
    const text = '{"nodes":[],"edges":[],"flowright":{"write_id":"a","by":"hand"}}';
    expect(stampOf(stampFlow(text, 'b'))).toBe('b');
    expect(unstampFlow(text)).toBe('{"nodes":[],"edges":[],"flowright":{"by":"hand"}}');
  });

  it.each(['', 'no JSON', '[]', 'null', '{"flowright":7}', '{"flowright":{"write_id":7}}'])('is none in %s', (text) => {
    expect(stampOf(text)).toBeNull();
  });
});

describe('[FLR-flow-finalise] the text that is sent', () => {
  const approved = () => {
    const flow = smallFlow();
    const tool = nodeOf('customTool', 'Tools', [{ name: 'selectedTool', type: 'asyncOptions' }]);
    tool.data.inputs.selectedTool = toolPlaceholder('weather');
    const agent = nodeOf('agentAgentflow', 'Agent Flows', []);
    agent.data.inputs.agentTools = [{ agentSelectedToolConfig: { selectedTool: toolPlaceholder('mail') } }];
    flow.nodes.push(tool, agent);
    nodeNamed(flow, 'stickyNote_0').data.inputs.note = 'mentions flowright:tool:weather in passing';
    return JSON.stringify(flow);
  };
  const finals = { writeId: 'w-1', toolIds: { weather: 'tool-7', mail: 'tool-8' } };

  it('names stored tools by their ids and carries the stamp, and nothing else changes', () => {
    const sent = finalise(approved(), finals);
    const expected = approved()
      .replace('"flowright:tool:weather"', '"tool-7"')
      .replace('"flowright:tool:mail"', '"tool-8"');
    expect(unstampFlow(sent)).toBe(expected);
    expect(stampOf(sent)).toBe('w-1');
    expect(toolRefsIn(approved())).toEqual(['weather', 'mail']);
    expect(toolRefsIn(sent)).toEqual([]);
  });

  it('is recognised as what the approved text became', () => {
    const sent = finalise(approved(), finals);
    expect(isFinalOf(sent, approved(), finals)).toBe(true);
    expect(isFinalOf(sent, approved(), { ...finals, writeId: 'w-2' })).toBe(false);
    expect(isFinalOf(sent.replace('0.9', '0.8'), approved(), finals)).toBe(false);
  });

  it.each(['mail', 'toString'])('is refused while a tool has no id', (ref) => {
    const text = approved().replace('tool:mail', `tool:${ref}`);
    expect(() => finalise(text, { writeId: 'w', toolIds: { weather: 'tool-7' } })).toThrow(
      `The tool ${ref} was not stored`,
    );
  });

  it('of a flow without tools is the stamped flow', () => {
    const text = JSON.stringify(smallFlow() satisfies FlowData);
    expect(finalise(text, { writeId: 'w', toolIds: {} })).toBe(stampFlow(text, 'w'));
  });
});
