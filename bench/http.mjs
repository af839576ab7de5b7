// Throughput of flow.list and flow.get over HTTP, as a share of a route that only sends the same bytes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { makeFlow, writeStore } from './make-flows.mjs';
import { MAIN, makeHome, median, run, serve } from './program.mjs';

const FLOWS = 200;
const CONNECTIONS = 20;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const WANTED = 0.45;

export async function benchHttp() {
  const { home, remove } = makeHome();
  try {
    run(home, 'vault', 'create', 'bench', '--no-starters');
    const bundles = Array.from({ length: FLOWS }, (_, index) => makeFlow(index));
    writeStore(join(home, 'import'), 'bench', bundles);
    run(home, 'flow', 'store', 'import', join(home, 'import'));
    const { token } = JSON.parse(
      run(home, 'token', 'create', '--user', 'bench', '--role', 'viewer', '--vault', 'bench', '--json'),
    );
    const hub = await serve([MAIN, 'hub'], {
      FLOWRIGHT_HOME: home,
      DATABASE_URL: '',
      FLOWRIGHT_PORT: '0',
      FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '100000000',
    });
    const headers = { authorization: `Bearer ${token}` };
    const ratios = {};
    for (const path of ['/api/v1/flows', '/api/v1/flows/flow_bench_7']) {
      const response = await fetch(hub.url + path, { headers });
      const answer = await response.text();
      const file = join(home, 'bytes');
      writeFileSync(file, answer);
      const constant = await serve([
        join(import.meta.dirname, 'constant-server.mjs'),
        file,
        JSON.stringify(fixedHeaders(response)),
      ]);
      const ours = [];
      const theirs = [];
      await requestsPerSecond(`${constant.url}/constant`, headers);
      await requestsPerSecond(hub.url + path, headers);
      for (let round = 0; round < ROUNDS; round += 1) {
        theirs.push(await requestsPerSecond(`${constant.url}/constant`, headers));
        ours.push(await requestsPerSecond(hub.url + path, headers));
      }
      await constant.stop();
      ratios[path] = median(ours) / median(theirs);
      const share = `${(100 * ratios[path]).toFixed(0)} %`;
      console.log(
        `GET ${path} (${answer.length} bytes): ${share} of a constant route (${Math.round(median(ours))} against ${Math.round(median(theirs))} requests/s, ${CONNECTIONS} connections; wanted at least ${WANTED * 100} %)`,
      );
    }
    await hub.stop();
    return { ok: Object.values(ratios).every((ratio) => ratio >= WANTED), ratios };
  } finally {
    remove();
  }
}

/** The hub's own headers, less those that the reference's framework writes by itself. */
function fixedHeaders(response) {
  const own = /^(content-length|content-type|date|connection|keep-alive|x-ratelimit-.*)$/;
  return Object.fromEntries([...response.headers].filter(([name]) => !own.test(name)));
}

async function requestsPerSecond(url, headers) {
  const result = await autocannon({ url, headers, connections: CONNECTIONS, duration: SECONDS });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`);
  return result.requests.average;
}
