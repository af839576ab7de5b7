import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { onEachDatabase } from '../support/databases.ts';
import { flowright, flowrightJson } from '../support/program.ts';
import { programOn, useStore } from './library.ts';

const NOTE = `---
type: flow
flow_id: flow_capture_to_note
version: 9.9.9
scope: org
title: Edited by hand, quicksilver
---
\`\`\`json
{"flow": {"flow_id": "flow_capture_to_note", "version": "9.9.9", "title": "Edited by hand"}, "steps": []}
\`\`\`
`;

onEachDatabase((_engine, makeStore) => {
  it('[S002-9.5-index-wins] a note at the mirror path changes no answer and is not touched', async () => {
    const store = await useStore(makeStore);
    const options = programOn(store);
    const get = ['flow', 'get', 'flow_capture_to_note', '--json'];
    const before = await flowright(get, options);
    const list = await flowright(['flow', 'list', '--json'], options);
    const { flow } = JSON.parse(before.stdout);
    expect(flow.vault_mirror_path).toBe('meta/flows/capture-to-note.md');
    const notes = ['', 'default', 'vaults/default'].map((folder) => join(store.home, folder, flow.vault_mirror_path));
    for (const note of notes) {
      mkdirSync(dirname(note), { recursive: true });
      writeFileSync(note, NOTE);
    }
    const after = await flowright(get, options);
    expect([after.status, after.stdout, after.stderr]).toEqual([0, before.stdout, '']);
    expect((await flowright(['flow', 'list', '--json'], options)).stdout).toBe(list.stdout);
    const found = await flowrightJson<{ flows: unknown[] }>(['flow', 'search', 'quicksilver'], options);
    expect(found.flows).toEqual([]);
    for (const note of notes) expect(readFileSync(note, 'utf8')).toBe(NOTE);
  });

  it('[S002-9.5-index-wins] a note that is there before the first start is no source either', async () => {
    const [noted, plain] = [await useStore(makeStore), await useStore(makeStore)];
    const note = join(noted.home, 'meta/flows/capture-to-note.md');
    mkdirSync(dirname(note), { recursive: true });
    writeFileSync(note, NOTE);
    const get = ['flow', 'get', 'flow_capture_to_note', '--json'];
    const { stdout } = await flowright(get, programOn(noted));
    expect(stdout).toBe((await flowright(get, programOn(plain))).stdout);
    expect(stdout).not.toContain('Edited by hand');
  });
});
