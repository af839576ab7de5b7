import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, type FlowiseCanvas, openCanvas } from './flowise-canvas.ts';
import { conversation, ownToolAgent, retrieval, toolAgent } from './op-lists.ts';
import { HAS_REAL, type RealServers, realServers } from './real.ts';
import { openWorkshop, type Workshop } from './workshop.ts';

const FLOWS = { conversation, retrieval, 'tool-agent': toolAgent, 'own-tool': ownToolAgent };

if (HAS_REAL && !CHROMIUM) console.error('No Chromium here: install one, or name it in FLOWRIGHT_CHROMIUM.');

describe.skipIf(!HAS_REAL || !CHROMIUM)("on Flowise's own canvas", () => {
  let servers: RealServers;
  let workshop: Workshop;
  let canvas: FlowiseCanvas;

  beforeAll(async () => {
    servers = await realServers();
    workshop = await openWorkshop('sqlite', servers);
    canvas = await openCanvas(servers.first);
  });
  afterAll(async () => {
    await canvas?.close();
    await workshop?.close();
    await servers?.stop();
  });

  for (const [name, ops] of Object.entries(FLOWS)) {
    it(`${name} has every node and every connection`, async () => {
      const { chatflow_id } = await workshop.write(ops(workshop.supplies));
      const { nodes, edges } = await workshop.first.flow(chatflow_id);
      const drawn = await canvas.look(chatflow_id, path.join(tmpdir(), `flowright-canvas-${name}.png`));
      expect(drawn).toEqual({ nodes: nodes.length, edges: edges.length, overlaps: [], complaints: [] });
    });
  }
});
