import { describe, expect, it } from 'vitest';
import { inferPrompt, promptsFor } from '../../src/flowcharts/nodes/memory/prompt.ts';
import { entry as contextEntry, inputContext } from '../support/node-execution.ts';

const said = (output_state: Record<string, unknown>, node_type = 'task') => contextEntry({ node_type, output_state });
const inferred = (output_state: Record<string, unknown>, node_type?: string) =>
  inferPrompt(inputContext({ upstream_nodes: [said(output_state, node_type)] }));

describe('[FLR-memory-inference] a prompt that nobody wrote', () => {
  it('is what the latest trigger said, then the others, then context, each text once', () => {
    const first = said({ answer: 'one' });
    const last = { ...said({ message: 'two' }), sequence: 9 };
    const input = inputContext({
      upstream_nodes: [first, last],
      latest_upstream: last,
      context_only_upstream_nodes: [said({ description: 'three' }), said({ answer: 'one' })],
    });
    expect(inferPrompt(input)).toBe('two\n\none\n\nthree');
  });

  it('takes what a node says rather than all it knows', () => {
    expect(inferred({ answer: ' ', raw_output: 'raw', message: 'm' })).toBe('raw');
    expect(inferred({ latest_update: 'news', description: 'd' })).toBe('news');
    expect(inferred({ answer: 42 })).toBe('42');
    expect(inferred({ answer: ['a', '', { message: 'b' }] })).toBe('a\nb');
    expect(inferred({ node_type: 'task', attachments: [], structured_output: { a: 1 } })).toBe(
      '{"structured_output":{"a":1}}',
    );
    expect(inferred({ node_type: 'task', attachments: [] })).toBe('');
  });

  it('takes what a run was started with, and what a memory node found or wrote', () => {
    expect(inferred({ message: 'The run has started.', input: { answer: 'go' } }, 'start')).toBe('go');
    expect(inferred({ message: 'The run has started.', input: null }, 'start')).toBe('');
    const found = [{ description: 'x' }, { description: 'y' }];
    expect(inferred({ retrieved_memories: found, effective_prompt: 'p' }, 'memory')).toBe('x\ny');
    expect(inferred({ retrieved_memories: [], stored_memory: { id: 1, description: 'z' } }, 'memory')).toBe('z');
  });

  it('has at most 4,000 characters and no half of one', () => {
    expect(inferred({ answer: 'a'.repeat(9_000) })).toHaveLength(4_000);
    expect(inferred({ answer: `${'a'.repeat(3_999)}😀` })).toBe('a'.repeat(3_999));
  });

  it('is used only where nobody wrote one', () => {
    const input = inputContext({ upstream_nodes: [said({ answer: 'context' })] });
    const own = promptsFor('add', 'mine', input);
    expect(own).toMatchObject({ additive_prompt: 'mine', inferred_prompt: 'context', effective_prompt: 'mine' });
    expect(own.internal_action_prompt).toBe(`${own.action_prompt_template}\n\nAdditional instructions:\nmine`);
    const none = promptsFor('retrieve', '', inputContext({}));
    expect(none).toMatchObject({ inferred_prompt: '', effective_prompt: '' });
    expect(none.internal_action_prompt).toBe(none.action_prompt_template);
    expect(none.action_prompt_template).not.toBe(own.action_prompt_template);
  });
});
