// Preloaded into Flowise. A streaming model counts tokens with tables that LangChain fetches from the web; without
// the web that costs minutes of retries a prediction. The same tables are installed, so they are served from there.
const { createRequire } = require('node:module');
const path = require('node:path');

const TABLES = /^https:\/\/tiktoken\.pages\.dev\/js\/(\w+)\.json/;
const realFetch = globalThis.fetch;

globalThis.fetch = async (resource, init) => {
  const url = resource instanceof Request ? resource.url : String(resource);
  const table = TABLES.exec(url)?.[1];
  if (table === undefined) return realFetch(resource, init);
  const load = createRequire(path.join(process.env.FLOWISE_INSTALL_DIR ?? process.cwd(), 'package.json'));
  const ranks = load(`js-tiktoken/ranks/${table}`);
  return Response.json(ranks.default ?? ranks);
};
