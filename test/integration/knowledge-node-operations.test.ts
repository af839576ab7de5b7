import { describe, expect, it } from 'vitest';
import { operations } from '../../src/knowledge/operations.ts';
import type { AnyOperation } from '../../src/operations/index.ts';
import { refreshScene, SMALL_NODE, smallFlowise } from './refresh-scene.ts';

const named = (name: string) => (operations as AnyOperation[]).find((one) => one.name === name) as AnyOperation;

describe('[FLR-knowledge-node] a node type', () => {
  it('is shown with its parameters, inputs, outputs and credential, and nobody is asked', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake);
    const payload = await scene.ask('knowledge.node', { node_type: 'chatOpenAI' }, { role: 'viewer' });
    const { node, server } = payload;
    expect([server, node.node_type, node.category]).toEqual(['default', 'chatOpenAI', 'Chat Models']);
    expect(node.credential).toEqual({ types: ['openAIApi'], required: true });
    expect(node.inputs).toEqual([
      { name: 'cache', label: 'Cache', types: ['BaseCache'], required: false, list: false },
    ]);
    expect(node.outputs[0].types).toContain('BaseChatModel');
    const param = (name: string) => node.params.find((one: { name: string }) => one.name === name);
    expect(param('modelName')).toMatchObject({ type: 'asyncOptions', default: 'gpt-4o-mini', required: false });
    expect(param('reasoningEffort')).toMatchObject({
      options: ['low', 'medium', 'high', 'xhigh'],
      shown_when: '{"reasoning":true}',
    });
    expect(fake.requests.count()).toBe(0);
    const card = named('knowledge.node').cli?.render(payload);
    expect(card).toMatch(/^chatOpenAI {2}OpenAI \(Chat Models, version [\d.]+\)\n/);
    expect(card).toMatch(/credential {2}openAIApi, required\n/);
    expect(card).toContain('inputs (target_anchor)\n    cache  BaseCache\n');
    expect(card).toMatch(/outputs \(source_anchor\)\n {4}chatOpenAI {2}ChatOpenAI/);
    expect(card).toContain(
      '    reasoningEffort  options, required, one of low, medium, high, xhigh, when {"reasoning":true}',
    );
  });

  it('tells a model the slice of at most ten parameters', async () => {
    const scene = await refreshScene(await smallFlowise());
    const payload = await scene.ask('knowledge.node', { node_type: 'chatOpenAI' });
    const digest = named('knowledge.node').digest?.(payload) ?? '';
    expect(digest.match(/^- \w+: /gm)?.length).toBe(10);
    expect(digest).toContain('anchors: in cache (BaseCache optional); out chatOpenAI (ChatOpenAI|');
  });

  it('that is not known here is fetched once, and kept', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake);
    for (let time = 0; time < 2; time++) {
      const { node } = await scene.ask('knowledge.node', { node_type: SMALL_NODE.name });
      expect(node).toMatchObject({ label: 'Zapier', params: [{ name: 'mode', options: ['a'], default: 'a' }] });
    }
    expect(fake.requests.count('GET', '/nodes/:name')).toBe(1);
  });

  it('that does not exist is answered with what may have been meant', async () => {
    const scene = await refreshScene(await smallFlowise());
    await expect(scene.ask('knowledge.node', { node_type: 'chatOpenAi2' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringMatching(/no node type chatOpenAi2\. Did you mean chatOpenAI.*knowledge nodes --search/),
      details: { suggestions: expect.arrayContaining(['chatOpenAI']) },
    });
  });

  it('is known without any server, and says when the server could not be asked', async () => {
    const alone = await refreshScene(null);
    const { server, node } = await alone.ask('knowledge.node', { node_type: 'bufferMemory' });
    expect([server, node.label]).toEqual([null, 'Buffer Memory']);
    await expect(alone.ask('knowledge.node', { node_type: 'nothing' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await alone.codeOf('knowledge.node', { node_type: 'x', server: 'other' })).toBe('FLOWISE_SERVER_UNKNOWN');
    const fake = await smallFlowise();
    const cutOff = await refreshScene(fake);
    fake.fault('GET', '/nodes/:name', { kind: 'answer', status: 403, body: {}, times: 9 });
    await expect(cutOff.ask('knowledge.node', { node_type: 'nothing' })).rejects.toMatchObject({
      message: expect.stringContaining('could not be asked (FLOWISE_FORBIDDEN)'),
    });
  });

  it('never shows what looks like a key as a default', async () => {
    const inputs = [
      { label: 'Key', name: 'key', type: 'password', default: 'hunter2hunter2' },
      { label: 'Text', name: 'text', type: 'string', default: 'Bearer sk-abcdefghijklmnopqrstuvwxyz0123456789' },
    ];
    const scene = await refreshScene(await smallFlowise({ nodes: [{ ...SMALL_NODE, inputs }] }));
    const payload = await scene.ask('knowledge.node', { node_type: SMALL_NODE.name });
    expect(JSON.stringify(payload)).not.toMatch(/hunter2|sk-abc/);
  });
});

describe('[FLR-knowledge-nodes] node types', () => {
  it('are listed, searched, narrowed to a category and paged', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake);
    const all = await scene.ask('knowledge.nodes', {}, { role: 'viewer' });
    expect(all).toMatchObject({ server: 'default', count: 50, total_count: 297 });
    const memory = await scene.ask('knowledge.nodes', { search: 'BUFFER', category: 'memory' });
    const names = memory.items.map(({ node_type }: { node_type: string }) => node_type);
    expect(names).toContain('bufferMemory');
    expect(new Set(memory.items.map(({ category }: { category: string }) => category))).toEqual(new Set(['Memory']));
    const second = await scene.ask('knowledge.nodes', { search: 'buffer', category: 'Memory', limit: 1, offset: 1 });
    expect(second.items.map(({ node_type }: { node_type: string }) => node_type)).toEqual([names[1]]);
    expect(fake.requests.count()).toBe(0);
    const { render } = named('knowledge.nodes').cli ?? {};
    expect(render?.(all)).toMatch(/^NAME +LABEL +CATEGORY[\s\S]*\n50 of 297; --offset 50 goes on$/);
    expect(render?.(await scene.ask('knowledge.nodes', { search: 'zzzz' }))).toContain('No node type fits');
  });
});
