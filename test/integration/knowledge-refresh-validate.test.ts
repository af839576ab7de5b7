import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/kernel/hash.ts';
import type { RefreshScene } from './refresh-scene.ts';
import { refreshScene, smallFlowise } from './refresh-scene.ts';

const ENTRY = { credential_id: 'i', name: 'n', type: 't', tags: [], created_at: null, updated_at: null };
const NODE = {
  node_type: 'a',
  version: 1,
  input_anchors: [],
  input_params: [],
  output_anchors: [{ id: 'a', name: 'a', label: 'A', type: 'A', baseClasses: ['A'] }],
};
const INPUT = { id: 'x', name: 'x', label: 'X', type: 'string' };

/** Writes a snapshot as it is, with a meta file that fits. */
function put(scene: RefreshScene, kind: string, items: unknown[], fingerprint?: string): void {
  mkdirSync(scene.folder, { recursive: true });
  const text = JSON.stringify(items);
  const meta = { item_count: items.length, sha256: fingerprint ?? sha256Hex(text), status: 'ok' };
  writeFileSync(join(scene.folder, `${kind}.snapshot.json`), text);
  writeFileSync(join(scene.folder, `${kind}.meta.json`), JSON.stringify(meta));
}

const problems = (payload: { parts: { issues: { code: string; path: string }[] }[] }) =>
  payload.parts.flatMap(({ issues }) => issues.map(({ code, path }) => `${code} ${path}`));

describe('validating what is on the disk', () => {
  it.each([
    ['encryptedData', [{ ...ENTRY, encryptedData: 'U2FsdGVkX1' }], ['banned_key /0/encryptedData']],
    ['plainDataObj', [{ ...ENTRY, plainDataObj: { a: 1 } }], ['banned_key /0/plainDataObj']],
    ['a key named after a secret', [{ ...ENTRY, openAIApiKey: 'x' }], ['banned_key /0/openAIApiKey']],
    ['one deep inside', [{ ...ENTRY, tags: [{ PassWord: 1 }] }], ['banned_key /0/tags/0/PassWord']],
    ['a key that is merely not allowed', [{ ...ENTRY, workspace: 'x' }], ['not_allowed /0/workspace']],
    ['a name that is a secret', [{ ...ENTRY, name: 'sk-proj-abcdefghijklmnop1234' }], ['secret /0/name']],
    ['an entry without an id', [{ ...ENTRY, credential_id: '' }], ['shape /0']],
    ['an entry twice', [ENTRY, ENTRY], ['duplicate /1/credential_id']],
    ['something else', ['x', null], ['shape /0', 'shape /1']],
  ])(
    'refuses credentials with %s, whatever their fingerprint [S000-M3-validate] [FLR-validate-lints]',
    async (_, items, expected) => {
      const scene = await refreshScene(null);
      put(scene, 'flowise_credentials', items);
      const payload = await scene.refresh({ credentials: true, validate: true });
      expect(payload).toMatchObject({ ok: false, exit_code: 1, validate: true });
      expect(problems(payload).filter((one) => !one.startsWith('banned '))).toEqual(expected);
      expect(JSON.stringify(payload)).not.toMatch(/U2FsdGVkX1|sk-proj/);
      put(scene, 'flowise_credentials', items, 'f'.repeat(64));
      const edited = problems(await scene.refresh({ credentials: true, validate: true }));
      expect(edited).toEqual(['mismatch ', ...expected]);
    },
  );

  it.each([
    ['a version that is text', { ...NODE, version: '1' }, ['version /0/version']],
    ['no output', { ...NODE, output_anchors: [] }, ['no_output /0/output_anchors']],
    [
      'an id that is not the name',
      { ...NODE, input_params: [{ ...INPUT, id: '{nodeId}-x' }] },
      ['id /0/input_params/0/id'],
    ],
    ['a param among the anchors', { ...NODE, input_anchors: [INPUT] }, ['misfiled /0/input_anchors/0']],
    [
      'a class among the params',
      { ...NODE, input_params: [{ ...INPUT, type: 'Tool' }] },
      ['misfiled /0/input_params/0'],
    ],
    [
      'options without a list',
      { ...NODE, input_params: [{ ...INPUT, type: 'options' }] },
      ['no_options /0/input_params/0'],
    ],
    [
      'no loadMethod',
      { ...NODE, input_params: [{ ...INPUT, type: 'asyncOptions' }] },
      ['no_load_method /0/input_params/0'],
    ],
    ['no inputs', { node_type: 'a' }, ['shape /0']],
  ])('refuses a node with %s [FLR-validate-lints]', async (_, node, expected) => {
    const scene = await refreshScene(null);
    put(scene, 'flowise_nodes', [node]);
    expect(problems(await scene.refresh({ nodes: true, validate: true }))).toEqual(expected);
  });

  it('refuses a template with its flow, or with an id of its own making [FLR-validate-lints]', async () => {
    const scene = await refreshScene(null);
    put(scene, 'flowise_templates', [
      { template_id: 'x', name: 'n', type: 'Tool', tags: [], flowData: '{}' },
      { name: 'n' },
    ]);
    const payload = await scene.refresh({ templates: true, validate: true });
    expect(problems(payload)).toEqual(['id /0/template_id', 'flow_data /0/flowData', 'shape /1']);
  });

  it('finds nothing wrong with what is committed, and asks nobody [FLR-validate-lints] [S000-C-committed-files]', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake);
    const payload = await scene.refresh({ all: true, workday_mcp: true, workday_api: true, validate: true });
    expect(payload.parts.map(({ line }: { line: string }) => line)).toEqual([
      '[nodes]       297 items — valid',
      '[templates]   50 items — valid',
      '[credentials] no snapshot yet, nothing to check',
      '[workday_mcp] 0 items — valid',
      '[workday_api] 0 items — valid',
    ]);
    expect([payload.exit_code, fake.requests.count()]).toEqual([0, 0]);
  });
});
