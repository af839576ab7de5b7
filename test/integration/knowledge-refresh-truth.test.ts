import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { statusTable } from '../../src/knowledge/render.ts';
import { recordedNodes } from '../support/fake-flowise/index.ts';
import { tempFolder } from '../support/home.ts';
import { refreshScene, SMALL_NODE, SMALL_REFERENCE, smallFlowise } from './refresh-scene.ts';

const lineOf = (payload: { parts: { line: string }[] }) => payload.parts[0]?.line;
const typesIn = (nodes: { node_type: string }[]) => nodes.map(({ node_type }) => node_type);

/** A server whose one node is also in the reference, there in other words. */
async function worded(options: { reference?: string } = {}) {
  const fake = await smallFlowise({ nodes: [{ ...ECHO, description: 'As the server says it.' }] });
  const reference = options.reference ?? join(tempFolder(), 'reference.md');
  if (!options.reference) writeFileSync(reference, SMALL_REFERENCE);
  const scene = await refreshScene(fake, { reference, baselineDir: join(tempFolder(), 'none') });
  return { fake, scene, reference };
}
const ECHO = { ...SMALL_NODE, name: 'chatEcho' };

describe('[FLR-refresh-tells-the-file] the report of a refresh', () => {
  it('of a fresh folder from the API says that texts differ from what came with Flowright, and how to go back', async () => {
    const fake = await smallFlowise({
      nodes: recordedNodes().map((node) => ({ ...node, description: `${node.label}!` })),
    });
    const scene = await refreshScene(fake);
    const first = await scene.refresh({ nodes: true, from_api: true });
    expect(first.parts[0]).toMatchObject({ outcome: 'written', texts: 297, new: [], changed: [], removed: [] });
    expect(lineOf(first)).toBe('[nodes]       297 items — only texts differ, in 297 of them');
    const again = await scene.refresh({ nodes: true, from_api: true });
    expect(lineOf(again)).toBe('[nodes]       297 items — no change (fingerprint match)');
    const back = await scene.refresh({ nodes: true, from_reference: true });
    expect(lineOf(back)).toBe('[nodes]       297 items — only texts differ, in 297 of them');
  });

  it('never speaks of a fingerprint match when bytes change', async () => {
    const fake = await smallFlowise();
    const scene = await refreshScene(fake, { baselineDir: join(tempFolder(), 'none') });
    // An empty list is written where no file was.
    expect(lineOf(await scene.refresh({ credentials: true }))).toBe('[credentials] 0 items — no change');
    expect(lineOf(await scene.refresh({ credentials: true }))).toBe(
      '[credentials] 0 items — no change (fingerprint match)',
    );
  });

  it('tells templates whose texts alone differ from those that came with Flowright', async () => {
    const { items } = await baselineTemplates();
    const fake = await smallFlowise({
      templates: items.map(({ name, type, badge, framework, usecases, categories }) => ({
        templateName: name,
        type,
        badge,
        framework,
        usecases,
        categories,
        description: 'Other words.',
      })) as never,
    });
    const scene = await refreshScene(fake);
    const [part] = (await scene.refresh({ templates: true })).parts;
    expect(part.line).toMatch(/^\[templates\] {3}50 items — .*texts/);
    expect(part.line).not.toContain('fingerprint match');
  });

  it('does not count as new what is listed as removed', async () => {
    const fake = await smallFlowise();
    const scene = await worded().then(({ reference }) =>
      refreshScene(fake, { reference, baselineDir: join(tempFolder(), 'none') }),
    );
    await scene.refresh({ nodes: true, from_api: true });
    expect(scene.json('flowise_nodes.meta.json').removed).toEqual(['chatEcho']);
    const plain = await scene.refresh({ nodes: true });
    expect(plain.parts[0]).toMatchObject({ outcome: 'unchanged', new: [] });
  });
});

describe('[FLR-refresh-keeps-the-server] what a server said itself', () => {
  it('stays when nodes are refreshed from the reference, and the meta file says so', async () => {
    const { scene, fake } = await worded();
    await scene.refresh({ nodes: true, from_api: true });
    const before = scene.files();
    fake.requests.clear();
    scene.at('2026-03-01T00:00:00.000Z');
    const plain = await scene.refresh({ nodes: true });
    expect(plain.parts[0]).toMatchObject({ outcome: 'unchanged', texts: 0, changed: [] });
    expect(scene.files()).toEqual(before);
    expect(fake.requests.count()).toBe(0);
    expect(scene.json('flowise_nodes.meta.json')).toMatchObject({
      source: 'reference and flowise_api',
      flowise_version: '3.1.4',
    });
    const status = await scene.ask('knowledge.status', {});
    expect(status.parts[0]).toMatchObject({ source: 'reference and flowise_api', source_host: fake.url });
    expect(statusTable(status)).toMatch(new RegExp(`nodes .*reference, ${fake.url}`));
  });

  it('is completed by nodes that only the reference has', async () => {
    const { scene, reference } = await worded();
    await scene.refresh({ nodes: true, from_api: true });
    writeFileSync(reference, withAnother(SMALL_REFERENCE));
    const plain = await scene.refresh({ nodes: true });
    expect(plain.parts[0]).toMatchObject({ outcome: 'written', new: ['chatOther'], changed: [], texts: 0 });
    const nodes = scene.json('flowise_nodes.snapshot.json');
    expect(typesIn(nodes)).toEqual(['chatEcho', 'chatOther']);
    expect(nodes[0].description).toBe('As the server says it.');
  });

  it('gives way to the reference when that is asked for, or when somebody put one beside the snapshot', async () => {
    const { scene, fake } = await worded();
    await scene.refresh({ nodes: true, from_api: true });
    await scene.refresh({ nodes: true, from_reference: true });
    expect(scene.json('flowise_nodes.meta.json')).toMatchObject({ source: 'reference', flowise_version: null });
    expect(JSON.stringify(scene.json('flowise_nodes.snapshot.json'))).not.toContain('As the server says it.');
    const status = statusTable(await scene.ask('knowledge.status', {}));
    expect(status).toMatch(/nodes .* reference$/m);
    expect(status.split('\n').find((line) => line.startsWith('nodes'))).not.toContain(fake.url);
    await scene.refresh({ nodes: true, from_api: true });
    mkdirSync(scene.folder, { recursive: true });
    writeFileSync(join(scene.folder, 'FLOWISE_NODE_REFERENCE.md'), SMALL_REFERENCE);
    await scene.refresh({ nodes: true });
    expect(JSON.stringify(scene.json('flowise_nodes.snapshot.json'))).not.toContain('As the server says it.');
  });

  it('is told apart in the list of what was fetched when the reference does not know it', async () => {
    const fake = await smallFlowise();
    const reference = join(tempFolder(), 'reference.md');
    writeFileSync(reference, SMALL_REFERENCE);
    const scene = await refreshScene(fake, { reference, baselineDir: join(tempFolder(), 'none') });
    await scene.refresh({ nodes: true, from_api: true });
    await scene.refresh({ nodes: true, from_reference: true });
    const meta = scene.json('flowise_nodes.meta.json');
    expect(meta.repaired.map(({ id }: { id: string }) => id)).toEqual(['zapierNLA']);
  });

  it('is asked for in one way only', async () => {
    const { scene } = await worded();
    const both = { nodes: true, from_api: true, from_reference: true };
    expect(await scene.codeOf('knowledge.refresh', both)).toBe('BAD_REQUEST');
    expect(await scene.codeOf('knowledge.refresh', { templates: true, from_reference: true })).toBe('BAD_REQUEST');
  });
});

/** The same node once more, under another name. */
function withAnother(reference: string): string {
  const at = reference.indexOf('### ');
  return `${reference}\n${reference.slice(at).replaceAll('chatEcho', 'chatOther')}`;
}

async function baselineTemplates() {
  const { readSnapshot } = await import('../../src/knowledge/snapshot-file.ts');
  const { packageRoot } = await import('../../src/home/index.ts');
  const reading = readSnapshot(join(packageRoot(), 'schemas'), 'flowise_templates');
  if (reading.state !== 'ok') throw new Error('the baseline has no templates');
  return { items: reading.items as Record<string, unknown>[] };
}
