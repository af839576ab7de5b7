import { describe, expect, it } from 'vitest';
import type { ApiNode, NodeSchema } from '../../src/flowise/index.ts';
import { compareCatalogues } from '../../src/knowledge/audit.ts';
import { compareNodes, worst } from '../../src/knowledge/audit-compare.ts';
import { normaliseNode } from '../../src/knowledge/normalise-node.ts';
import { auditText } from '../../src/knowledge/render.ts';
import { startFakeFlowise } from '../support/fake-flowise/index.ts';
import { refreshScene, SMALL_NODE, smallFlowise } from './refresh-scene.ts';

const LIVE: ApiNode = {
  ...SMALL_NODE,
  credential: { label: 'C', name: 'credential', type: 'credential', credentialNames: ['zapier'] },
  inputs: [
    { label: 'Model', name: 'model', type: 'BaseChatModel' },
    { label: 'Tools', name: 'tools', type: 'Tool', list: true, optional: true },
    {
      label: 'Mode',
      name: 'mode',
      type: 'options',
      options: [{ label: 'A', name: 'a' }],
      default: 'a',
      description: 'Words',
    },
    { label: 'Mode', name: 'mode', type: 'string', show: { x: 'y' }, acceptVariable: true },
    { label: 'From', name: 'from', type: 'asyncOptions', loadMethod: 'list', rows: 4 },
    { label: 'Rows', name: 'rows', type: 'array', array: [{ label: 'K', name: 'k', type: 'string', optional: true }] },
  ],
  outputs: [
    { label: 'One', name: 'one', baseClasses: ['Tool'] },
    { label: 'Two', name: 'two', baseClasses: ['Document'] },
  ],
};
const known = () => normaliseNode(structuredClone(LIVE));

type Spoil = (node: NodeSchema) => void;
const anchor = (node: NodeSchema, at = 0) => node.input_anchors[at] as Record<string, unknown>;
const param = (node: NodeSchema, at = 0) => node.input_params[at] as Record<string, unknown>;

describe('the audit of the nodes', () => {
  it.each<[string, Spoil, string, string]>([
    ['version', (node) => void Object.assign(node, { version: 1 }), 'MAJOR', '/version'],
    ['type', (node) => void Object.assign(node, { type: 'Other' }), 'MAJOR', '/type'],
    ['baseClasses', (node) => void Object.assign(node, { baseClasses: ['Zapier'] }), 'MAJOR', '/baseClasses'],
    [
      'credential',
      (node) => void Object.assign(node, { credential: { ...node.credential, credentialNames: ['x'] } }),
      'MAJOR',
      '/credential/credentialNames',
    ],
    [
      'has_output_choice',
      (node) => void Object.assign(node, { has_output_choice: false }),
      'MAJOR',
      '/has_output_choice',
    ],
    ['hideOutput', (node) => void Object.assign(node, { hideOutput: true }), 'MAJOR', '/hideOutput'],
    ['list', (node) => void delete anchor(node, 1).list, 'MAJOR', '/input_anchors/tools/list'],
    [
      'optional',
      (node) => void Object.assign(anchor(node), { optional: true }),
      'MAJOR',
      '/input_anchors/model/optional',
    ],
    ['an anchor', (node) => void node.input_anchors.pop(), 'MAJOR', '/input_anchors/tools'],
    ['default', (node) => void Object.assign(param(node), { default: 'b' }), 'MAJOR', '/input_params/mode/default'],
    ['options', (node) => void Object.assign(param(node), { options: [] }), 'MAJOR', '/input_params/mode/options/a'],
    ['the second of a name', (node) => void delete param(node, 1).show, 'MAJOR', '/input_params/mode#2/show'],
    [
      'acceptVariable',
      (node) => void delete param(node, 1).acceptVariable,
      'MAJOR',
      '/input_params/mode#2/acceptVariable',
    ],
    ['loadMethod', (node) => void delete param(node, 2).loadMethod, 'MAJOR', '/input_params/from/loadMethod'],
    ['rows', (node) => void Object.assign(param(node, 2), { rows: 2 }), 'MINOR', '/input_params/from/rows'],
    [
      'a field of a list',
      (node) =>
        void Object.assign(param(node, 3), { array: [{ label: 'K', name: 'k', type: 'number', optional: true }] }),
      'MAJOR',
      '/input_params/rows/array/k/type',
    ],
    [
      'an extra param',
      (node) => void node.input_params.push({ id: 'z', name: 'z', label: 'Z', type: 'string' }),
      'MAJOR',
      '/input_params/z',
    ],
    [
      'classes of an output',
      (node) => void Object.assign(node.output_anchors[1] as object, { baseClasses: [] }),
      'MAJOR',
      '/output_anchors/two/baseClasses',
    ],
    ['order', (node) => void node.output_anchors.reverse(), 'MINOR', '/output_anchors'],
    ['label', (node) => void Object.assign(node, { label: 'Zap' }), 'MINOR', '/label'],
  ])('tells a difference in %s [FLR-audit-every-field]', (_, spoil, verdict, path) => {
    const mine = known();
    spoil(mine);
    const { differences } = compareNodes(mine, known());
    expect([worst(differences), differences.map((one) => one.path)]).toEqual([verdict, [path]]);
  });

  it('passes what only words otherwise, and defaults that are ours [FLR-audit-verdicts]', () => {
    const mine = known();
    mine.own_defaults = ['mode'];
    param(mine).default = 'ours';
    delete param(mine).description;
    const { summary, nodes } = compareCatalogues([mine], [known()]);
    expect([summary.PASS, summary.texts, nodes]).toEqual([1, 2, []]);
  });

  it('calls a node without outputs or unknown critical, and one that is only here minor [FLR-audit-verdicts]', () => {
    const bare = { ...known(), output_anchors: [] };
    expect(compareCatalogues([bare], [known()]).nodes[0]?.verdict).toBe('CRITICAL');
    const other = { ...known(), node_type: 'other' };
    const { nodes, summary } = compareCatalogues([other], [known()]);
    expect(nodes.map(({ node_type, verdict }) => [node_type, verdict])).toEqual([
      ['zapierNLA', 'CRITICAL'],
      ['other', 'MINOR'],
    ]);
    expect(summary).toMatchObject({ live: 1, local: 1, MINOR: 1, CRITICAL: 1 });
  });

  it('passes every node of the committed baseline against the server it describes [FLR-audit-every-field]', async () => {
    const fake = await startFakeFlowise();
    const scene = await refreshScene(fake);
    const report = await scene.ask('knowledge.audit', {});
    await fake.close();
    expect(report.nodes).toEqual([]);
    expect(report).toMatchObject({ ok: true, origin: 'baseline', summary: { live: 297, local: 297, PASS: 297 } });
    expect(fake.requests.count('GET', '/nodes')).toBe(1);
  });

  it('is bad news for CI only where it is asked for, and says what to do [FLR-audit-verdicts]', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake);
    const report = await scene.ask('knowledge.audit', { ci: true });
    expect(report).toMatchObject({ ok: false, ci: true, source_host: fake.url });
    expect(auditText(report)).toMatch(/CRITICAL {2}zapierNLA[\s\S]*knowledge refresh --nodes --from-api/);
    await scene.refresh({ nodes: true, from_api: true });
    expect(await scene.ask('knowledge.audit', { ci: true })).toMatchObject({ ok: true, origin: 'own' });
  });
});
