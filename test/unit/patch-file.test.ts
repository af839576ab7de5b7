import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPatch } from '../../src/surfaces/cli/patch-file.ts';
import { tempFolder } from '../support/home.ts';

const NODE = { id: 'chatOpenAI_0', data: { name: 'chatOpenAI', inputs: { basepath: 'https://model.example' } } };
const FLOW = { nodes: [NODE], edges: [] };

function file(content: unknown): string {
  const folder = tempFolder();
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'change.json');
  writeFileSync(path, JSON.stringify(content));
  return path;
}

describe('[FLR-chatflow-command] a file with a change', () => {
  it.each([
    ['a list of operations', [], { ops: [] }],
    ['an object with ops', { ops: [1] }, { ops: [1] }],
    ['a flow', FLOW, { flow_data: JSON.stringify(FLOW) }],
    ['an object with flow_data', { flow_data: '{}' }, { flow_data: '{}' }],
  ])('is read: %s', (_, content, change) => {
    expect(readPatch(file(content))).toEqual({ change });
  });

  it.each([[{ nodes: 1 }], ['text'], [null], [{ flow: [] }]])('is refused when it is none: %j', (content) => {
    expect(() => readPatch(file(content))).toThrow(/list of patch operations.*exported chatflow/);
  });
});

describe('[FLR-chatflow-export-files] an exported chatflow', () => {
  it('is a flow with the name and kind that it had', () => {
    const exported = { chatflow_id: 'x', name: 'Talk', type: 'CHATFLOW', semantic_hash: 'h', flow: FLOW };
    expect(readPatch(file(exported))).toEqual({
      change: { flow_data: JSON.stringify(FLOW) },
      exported: { name: 'Talk', type: 'CHATFLOW' },
    });
  });

  it('is refused with the places of its hidden secrets', () => {
    const hidden = { ...NODE, data: { ...NODE.data, inputs: { headers: '{"x":"[secret]"}', 'a/b': ['[secret]'] } } };
    const exported = { name: 'Talk', type: 'CHATFLOW', flow: { ...FLOW, nodes: [NODE, hidden] } };
    expect(() => readPatch(file(exported))).toThrow(
      expect.objectContaining({
        code: 'PATCH_INVALID',
        message: expect.stringContaining(
          '[secret] stands at /flow/nodes/1/data/inputs/headers (chatOpenAI_0), /flow/nodes/1/data/inputs/a~1b/0 (chatOpenAI_0). Put the real values there',
        ),
      }),
    );
    const many = { name: '[secret]', flow: { nodes: Array(12).fill({ id: 'n', label: '[secret]' }) } };
    expect(() => readPatch(file(many))).toThrow(/stands at \/name, .* and 3 more\./);
  });
});
