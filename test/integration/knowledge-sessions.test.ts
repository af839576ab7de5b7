import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FlowiseServers } from '../../src/flowise/index.ts';
import { refusal } from '../../src/kernel/errors.ts';
import { createKnowledge } from '../../src/knowledge/index.ts';
import { defaultConfig, knowledgeScene } from '../support/knowledge.ts';

type Scene = Awaited<ReturnType<typeof knowledgeScene>>;

function knowledgeOf(scene: Scene, schemasDir: string, changes: Record<string, unknown> = {}) {
  const servers: FlowiseServers = {
    list: async () => [],
    client: async (_vault, name = 'main') => {
      if (name === 'main') return scene.context.client;
      throw refusal('FLOWISE_SERVER_UNKNOWN', `There is no server ${name}.`);
    },
    close: async () => {},
  };
  const { clock, log, baselineDir } = scene.context;
  const config = { ...defaultConfig(), ...changes };
  return createKnowledge({ config, clock, log, servers, schemasDir, baselineDir });
}

describe('knowledge of several vaults', () => {
  it('is kept in a folder a server and vault [FLR-knowledge-own-folder] [S000-E2-one-repair]', async () => {
    const scene = await knowledgeScene();
    const schemasDir = join(scene.folder, '..', 'home-schemas');
    const knowledge = knowledgeOf(scene, schemasDir);
    const [one, other] = await Promise.all([knowledge.session('default'), knowledge.session('team', 'main')]);
    expect(scene.fake.requests.count()).toBe(0);
    expect((await one.getNodeSchema('toolAgent'))?.node_type).toBe('toolAgent');
    expect(other.nodes.get('toolAgent')).toBeNull();
    expect((await other.getNodeSchema('toolAgent'))?.node_type).toBe('toolAgent');
    expect(readdirSync(schemasDir).sort()).toEqual(['main', 'team~main']);
    expect(scene.fake.requests.count()).toBe(2);
    const again = await knowledge.session('team');
    expect(again.nodes.get('toolAgent')).toBe(other.nodes.get('toolAgent'));
    await expect(knowledge.session('default', 'none')).rejects.toMatchObject({ code: 'FLOWISE_SERVER_UNKNOWN' });
  });

  it('is kept in the folder that a setting names [FLR-knowledge-own-folder]', async () => {
    const scene = await knowledgeScene();
    const named = join(scene.folder, '..', 'named');
    const knowledge = knowledgeOf(scene, '/nonexistent', { knowledge_schemas_dir: named });
    const session = await knowledge.session('team');
    await session.getNodeSchema('toolAgent');
    expect(readdirSync(named).sort()).toEqual(['flowise_nodes.meta.json', 'flowise_nodes.snapshot.json']);
  });
});
