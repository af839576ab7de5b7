// What the benchmark of the knowledge measures, bundled on the fly.
export { createClient } from '../src/flowise/client/create-client.ts';
export { silentLog } from '../src/kernel/log.ts';
export { FlowiseKnowledgeProvider, nodeParamsSlice, sourceHost } from '../src/knowledge/index.ts';
export { startFakeFlowise } from '../test/support/fake-flowise/start.ts';
