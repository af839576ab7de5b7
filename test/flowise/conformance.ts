import { chatflows } from './conformance-chatflows.ts';
import { predictions } from './conformance-predictions.ts';
import { type Raw, type Send, sender, type Target } from './target.ts';
import { NOBODY, type Note, named, shortened, type Traces, traceOf } from './trace.ts';

/**
 * The same questions to any server. What a real Flowise answered is kept in test/fixtures/flowise/conformance.json:
 * the fake one must answer likewise, and so must a real one of today.
 */
export async function runConformance(target: Target): Promise<Traces> {
  const traces: Traces = {};
  const send = sender(target);
  const note = (name: string, answer: Raw): Raw => {
    if (name in traces) throw new Error(`two cases are named ${name}`);
    traces[name] = traceOf(answer);
    return answer;
  };
  await access(target, send, note);
  await catalogue(send, note);
  await chatflows(send, note);
  await keeping(send, note);
  await predictions(target, send, note);
  return traces;
}

async function access(target: Target, send: Send, note: Note): Promise<void> {
  note('ping without a key', await send('GET', '/ping', undefined, { key: null }));
  note('version without a key', await send('GET', '/version', undefined, { key: null }));
  note('settings without a key', await send('GET', '/settings', undefined, { key: null }));
  note('nodes without a key', await send('GET', '/nodes', undefined, { key: null }));
  note('nodes with a wrong key', await send('GET', '/nodes', undefined, { key: 'wrong' }));
  note('unknown route', await send('GET', '/no-such-route'));
  note('unknown route without a key', await send('GET', '/no-such-route', undefined, { key: null }));
  note('unknown method', await send('PATCH', '/chatflows', {}));
  note('prefix in capitals', await send('GET', '/nodes', undefined, { prefix: '/API/v1' }));
  note('body that is no JSON', await send('POST', '/chatflows', undefined, { raw: '{"name": ' }));
  const key = await target.keyWith(['chatflows:view']);
  note('permitted with a narrow key', shortened(await send('GET', '/chatflows?page=1&limit=1', undefined, { key })));
  note('forbidden: chatflows', await send('POST', '/chatflows', {}, { key }));
  note('forbidden: credentials', await send('GET', '/credentials', undefined, { key }));
  note('forbidden: templates', await send('GET', '/marketplaces/templates', undefined, { key }));
  note('forbidden: tools', await send('GET', '/tools', undefined, { key }));
  note('forbidden: variables', await send('GET', '/variables', undefined, { key }));
  note('nodes with a narrow key', named(await send('GET', '/nodes', undefined, { key })));
}

async function catalogue(send: Send, note: Note): Promise<void> {
  note('nodes', named(await send('GET', '/nodes')));
  note('a node', named(await send('GET', '/nodes/chatOpenAI')));
  note('an unknown node', await send('GET', '/nodes/nope'));
  note('a node in capitals', await send('GET', '/nodes/CHATOPENAI'));
  note('a category', named(await send('GET', '/nodes/category/Chat%20Models')));
  note('an unknown category', await send('GET', '/nodes/category/Nope'));
  note('an unknown load method', await send('POST', '/node-load-method/chatOpenAI', { loadMethod: 'nope' }));
  note('a load method of an unknown node', await send('POST', '/node-load-method/nope', { loadMethod: 'listModels' }));
  note('templates', named(await send('GET', '/marketplaces/templates')));
  note('kinds of credentials', named(await send('GET', '/components-credentials')));
  note('a kind of credentials', named(await send('GET', '/components-credentials/openAIApi')));
  note('two kinds of credentials', named(await send('GET', '/components-credentials/openAIApi&amp;anthropicApi')));
  note('an unknown kind of credentials', await send('GET', '/components-credentials/nope'));
}

async function keeping(send: Send, note: Note): Promise<void> {
  const plainDataObj = { openAIApiKey: 'sk-conformance' };
  const made = note(
    'credential: create',
    await send('POST', '/credentials', { name: 'conformance', credentialName: 'openAIApi', plainDataObj }),
  );
  note('credential: no name', await send('POST', '/credentials', { credentialName: 'openAIApi', plainDataObj }));
  note('credential: no values', await send('POST', '/credentials', { name: 'x', credentialName: 'openAIApi' }));
  note('credentials', await send('GET', '/credentials?credentialName=openAIApi'));
  note('credentials of an unknown kind', await send('GET', '/credentials?credentialName=nope'));
  note('credential: get', await send('GET', `/credentials/${made.json.id}`));
  note('credential: delete', await send('DELETE', `/credentials/${made.json.id}`));
  note('credential: delete none', await send('DELETE', `/credentials/${made.json.id}`));
  note('credential: get none', await send('GET', `/credentials/${NOBODY}`));
  const tool = { name: 'conformance', description: 'x', color: '#112233', schema: '[]', func: "return ''" };
  const kept = note('tool: create', await send('POST', '/tools', tool));
  note('tool: no name', await send('POST', '/tools', { ...tool, name: undefined }));
  note('tool: no description', await send('POST', '/tools', { ...tool, description: undefined }));
  note('tool: no colour', await send('POST', '/tools', { ...tool, color: undefined }));
  note('tools', await send('GET', '/tools'));
  note('tools: a page', await send('GET', '/tools?page=1&limit=1'));
  note('tool: get', await send('GET', `/tools/${kept.json.id}`));
  note('tool: get none', await send('GET', `/tools/${NOBODY}`));
  note('tool: delete', await send('DELETE', `/tools/${kept.json.id}`));
  note('tool: delete none', await send('DELETE', `/tools/${kept.json.id}`));
  const variable = note(
    'variable: create',
    await send('POST', '/variables', { name: `v${Date.now()}`, value: '1', type: 'static' }),
  );
  note('variable: no name', await send('POST', '/variables', { value: '1', type: 'static' }));
  note('variables', await send('GET', '/variables'));
  note('variable: delete', await send('DELETE', `/variables/${variable.json.id}`));
}
