import { readFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/kernel/hash.ts';
import { snapshotPaths } from '../../src/knowledge/snapshot-file.ts';
import { recordedNodes } from '../support/fake-flowise/index.ts';
import { knowledgeScene, writeBaseline } from '../support/knowledge.ts';
import { compareFairly, describeComparison } from './measure.ts';

const FIRST_LOOKUP_RATIO = 2;
const SERVER_RATIO = 10_000;
const ROUNDS = 20;
/** One lookup is too short for the clock. */
const LOOKUPS = 100_000;

/** Every recorded node in the server's own snapshot. */
async function filledScene() {
  const scene = await knowledgeScene();
  await writeBaseline(
    scene.folder,
    recordedNodes().map(({ name }) => name),
  );
  return scene;
}

describe('looking up a node', () => {
  it('costs at most twice a bare read, SHA-256 and parse the first time [FLR-knowledge-first-lookup]', async () => {
    const scene = await filledScene();
    const { snapshot } = snapshotPaths(scene.folder, 'flowise_nodes');
    const comparison = await compareFairly(
      FIRST_LOOKUP_RATIO,
      ROUNDS,
      () => scene.provider().openSession().nodes.get('chatOpenAI'),
      () => {
        const bytes = readFileSync(snapshot);
        return { sha256: sha256Hex(bytes), items: JSON.parse(bytes.toString('utf8')) };
      },
    );
    console.log(describeComparison('first lookup against read + SHA-256 + parse', comparison));
    expect(comparison.ratio, describeComparison('first lookup', comparison)).toBeLessThanOrEqual(FIRST_LOOKUP_RATIO);
  });

  it('touches no file later and beats a server on loopback by far [FLR-knowledge-later-lookups]', async () => {
    const scene = await filledScene();
    const names = recordedNodes().map(({ name }) => name);
    const session = scene.provider().openSession();
    for (const name of names) expect(session.nodes.get(name)).not.toBeNull();
    rmSync(scene.folder, { recursive: true });
    let found = 0;
    const comparison = await compareFairly(
      LOOKUPS / SERVER_RATIO,
      ROUNDS,
      () => {
        for (let at = 0; at < LOOKUPS; at += 1) if (session.nodes.get(names[at % names.length] ?? '')) found += 1;
      },
      () => scene.context.client.getNode('chatOpenAI'),
    );
    const factor = LOOKUPS / comparison.ratio;
    console.log(`later lookups: ${Math.round(factor).toLocaleString('en')} × faster than the server`);
    expect(found).toBeGreaterThanOrEqual(LOOKUPS * ROUNDS);
    expect(factor).toBeGreaterThanOrEqual(SERVER_RATIO);
    expect((await session.getNodeSchema('chatOpenAI'))?.node_type).toBe('chatOpenAI');
  });
});
