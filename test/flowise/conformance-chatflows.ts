import { randomUUID } from 'node:crypto';
import type { Send } from './target.ts';
import { NOBODY, type Note, shortened } from './trace.ts';

export async function chatflows(send: Send, note: Note): Promise<void> {
  const name = `conformance ${randomUUID()}`;
  const flowData = JSON.stringify({ nodes: [], edges: [], viewport: { x: 0, y: 0, zoom: 1 } });
  const good = { name, flowData, type: 'CHATFLOW', deployed: false, isPublic: false };
  const made = note('create', await send('POST', '/chatflows', { ...good, id: NOBODY }));
  const id: string = made.json.id;
  note('create without a type', await send('POST', '/chatflows', { name, flowData }));
  note('create with an unknown type', await send('POST', '/chatflows', { ...good, type: 'NOPE' }));
  note('create without a name', await send('POST', '/chatflows', { ...good, name: undefined }));
  note('create without flowData', await send('POST', '/chatflows', { ...good, flowData: undefined }));
  for (const [label, bad] of BAD_FLOWS) {
    note(`create from ${label}`, await send('POST', '/chatflows', { ...good, flowData: bad }));
    note(`update to ${label}`, await send('PUT', `/chatflows/${id}`, { flowData: bad }));
    await send('PUT', `/chatflows/${id}`, { flowData });
  }
  note('update without edges', await send('PUT', `/chatflows/${id}`, { flowData: '{"nodes":[]}' }));
  await send('PUT', `/chatflows/${id}`, { flowData });
  const orphan = `orphan ${randomUUID()}`;
  note('create without edges', await send('POST', '/chatflows', { ...good, name: orphan, flowData: '{"nodes":[]}' }));
  const all = await send('GET', '/chatflows');
  const orphans = all.json.filter((row: { name: string }) => row.name === orphan);
  note('what a refused create left behind', { ...all, json: orphans });
  for (const row of orphans) await send('DELETE', `/chatflows/${row.id}`);
  note('get', await send('GET', `/chatflows/${id}`));
  note('get none', await send('GET', `/chatflows/${NOBODY}`));
  note('get by no id', await send('GET', '/chatflows/nope'));
  note('list', shortened(await send('GET', '/chatflows?type=CHATFLOW')));
  note('list a page', shortened(await send('GET', '/chatflows?page=1&limit=1')));
  note('list an unknown type', await send('GET', '/chatflows?type=NOPE'));
  note('rename', await send('PUT', `/chatflows/${id}`, { name: `${name} renamed` }));
  note('update flowData alone', await send('PUT', `/chatflows/${id}`, { flowData }));
  note('update to an unknown type', await send('PUT', `/chatflows/${id}`, { type: 'NOPE' }));
  note('update none', await send('PUT', `/chatflows/${NOBODY}`, { name }));
  note('update by no id', await send('PUT', '/chatflows/nope', { name }));
  const after = await send('GET', `/chatflows/${id}`);
  note('what updates left of it', {
    ...after,
    json: { renamed: after.json.name === `${name} renamed`, same: after.json.flowData === flowData },
  });
  note('delete', await send('DELETE', `/chatflows/${id}`));
  note('delete none', await send('DELETE', `/chatflows/${id}`));
  note('delete by no id', await send('DELETE', '/chatflows/nope'));
}

const BAD_FLOWS: readonly (readonly [string, unknown])[] = [
  ['an empty text', ''],
  ['text that is no JSON', 'no'],
  ['an object', { nodes: [], edges: [] }],
  ['null', null],
  ['an empty object', '{}'],
  ['a list', '[]'],
  ['a node without data', '{"nodes":[{"id":"x"}],"edges":[]}'],
];
