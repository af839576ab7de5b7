import { describe, expect, it } from 'vitest';
import { checkCanvas, recordedChatflow, recordedNodes, recordedTemplates, useFakeFlowise } from '../support/fake-flowise/index.ts';

describe('smoke', () => {
  it('works', async () => {
    const fake = await useFakeFlowise();
    const h = { authorization: `Bearer ${fake.apiKey}`, 'content-type': 'application/json' };
    const get = async (p: string, init: RequestInit = {}) => {
      const r = await fetch(`${fake.url}/api/v1${p}`, { headers: h, ...init });
      return { status: r.status, text: await r.text() };
    };
    expect((await get('/nodes')).status).toBe(200);
    console.log((await get('/nodes/nope')).text, (await get('/nothing')).text.slice(0, 30));
    for (const n of ['working', 'rag', 'toolagent', 'llmchain'] as const) {
      const flow = recordedChatflow(n);
      const cred = fake.rows.addCredential({ name: 'x', credentialName: 'openAIApi' });
      for (const node of flow.flowData.nodes) if (node.data.credential) node.data.credential = cred.id;
      const row = fake.rows.addChatflow({ name: n, flowData: flow.flowData });
      console.log(n, checkCanvas(flow.flowData), (await get(`/prediction/${row.id}`, { method: 'POST', body: '{"question":"hi calc"}' })).text);
    }
    for (const t of recordedTemplates()) if (t.flowData) console.log(t.templateName, checkCanvas(t.flowData).length, checkCanvas(t.flowData).slice(0, 3));
    expect(recordedNodes().length).toBe(297);
  });
});
