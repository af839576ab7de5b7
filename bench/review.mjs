// Cost of proposing and approving one large flow as the library grows: it should follow the flow, not the library.
import { join } from 'node:path';
import { makeFlow, writeStore } from './make-flows.mjs';
import { MAIN, makeHome, median, run, serve } from './program.mjs';

const ROUNDS = 40;
const WARM_UP = 5;
const WANTED = 1.5;
const STEPS = 100;
const SMALL = 100;
const LARGE = 10_000;

export async function benchReview() {
  const few = await openLibrary(SMALL);
  const many = await openLibrary(LARGE);
  try {
    const times = { few: [], many: [] };
    for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
      const taken = { few: await reviewOne(few, round), many: await reviewOne(many, round) };
      if (round < WARM_UP) continue;
      times.few.push(taken.few);
      times.many.push(taken.many);
    }
    const ratio = median(times.many) / median(times.few);
    console.log(
      `propose + approve of ${STEPS} steps: ${ratio.toFixed(2)} × with ${LARGE} other flows against ${SMALL} (${median(times.many).toFixed(1)} ms against ${median(times.few).toFixed(1)} ms; wanted at most ${WANTED} ×)`,
    );
    return { ok: ratio <= WANTED };
  } finally {
    await few.close();
    await many.close();
  }
}

async function openLibrary(flows) {
  const { home, remove } = makeHome();
  writeStore(
    join(home, 'store'),
    'default',
    Array.from({ length: flows }, (_, at) => makeFlow(at, { steps: 3 })),
  );
  run(home, 'flow', 'store', 'import', join(home, 'store'));
  run(home, 'policy', 'set', 'flow_authoring_writes_enabled', 'true');
  const { token } = JSON.parse(run(home, 'token', 'create', '--user', 'local', '--role', 'admin', '--json'));
  const hub = await serve([MAIN, 'hub'], {
    FLOWRIGHT_HOME: home,
    DATABASE_URL: '',
    FLOWRIGHT_PORT: '0',
    FLOWRIGHT_LOG_LEVEL: 'warn',
    FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '1000000',
  });
  const post = async (path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(hub.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  return {
    post,
    close: async () => {
      await hub.stop();
      remove();
    },
  };
}

async function reviewOne({ post }, round) {
  const bundle = makeFlow(1_000_000 + round, { steps: STEPS });
  const start = process.hrtime.bigint();
  const { proposal_id } = await post('/api/v1/flows', { ...bundle, intent: 'measure' });
  await post(`/api/v1/proposals/${proposal_id}/approve`, {});
  return Number(process.hrtime.bigint() - start) / 1e6;
}
