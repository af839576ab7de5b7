import { describe, expect, it } from 'vitest';
import { guardWrite } from '../../src/flowise/compiler/guard.ts';
import { payloadHash } from '../../src/flowise/compiler/payload-hash.ts';

const TEXT = '{"nodes":[]}';
const TOOL = { name: 'weather', description: 'Tells it', color: '', schema: '[]', func: 'return 1' };
const TOOLS = [{ tool_ref: 'weather', tool: TOOL }];

describe('the write guard', () => {
  it('lets through exactly the text and the tools that were approved [FLR-guard-exact-text]', () => {
    expect(() => guardWrite(TEXT, [], payloadHash(TEXT, []))).not.toThrow();
    expect(() => guardWrite(TEXT, TOOLS, payloadHash(TEXT, TOOLS))).not.toThrow();
  });

  it.each([
    ['another text', '{"nodes": []}', TOOLS],
    ['no tool', TEXT, []],
    ['other code of a tool', TEXT, [{ tool_ref: 'weather', tool: { ...TOOL, func: 'return 2' } }]],
  ])('refuses %s [FLR-guard-refuses]', (_what, text, tools) => {
    const mismatch = expect.objectContaining({ code: 'payload_mismatch', status: 409 });
    expect(() => guardWrite(text, tools, payloadHash(TEXT, TOOLS))).toThrow(mismatch);
  });
});
