import { it } from 'vitest';
import pg from 'pg';
import { inject } from 'vitest';
import { tmpdir } from 'node:os';
import { makeStore } from './support/databases.ts';
import { openInProcessHub } from './support/in-process-hub.ts';
import { openTestApp } from './support/app.ts';
import { flowright, startHub } from './support/program.ts';
const t = async (n: string, f: () => Promise<unknown>, k = 10) => {
  await f();
  const c0 = process.cpuUsage(); const s = performance.now();
  for (let i = 0; i < k; i++) await f();
  const c = process.cpuUsage(c0);
  console.log(n, ((performance.now() - s) / k).toFixed(1), 'ms wall', ((c.user + c.system) / 1000 / k).toFixed(1), 'ms own cpu');
};
it('probe', async () => {
  console.log(tmpdir(), 's: ');
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  let n = 0;
  for (const strategy of ['wal_log', 'file_copy', 'wal_log', 'file_copy']) {
    await t('create ' + strategy, async () => { await client.query(`create database p${n++} template flowright_template strategy ${strategy}`); });
  }
  await t('connect', async () => { const c = new pg.Client({ connectionString: inject('postgresUrl') }); await c.connect(); await c.end(); });
  n = 0;
  await t('drop', async () => { await client.query(`drop database p${n++} with (force)`); }, 30);
  await client.end();
  for (const e of ['sqlite', 'postgres'] as const) {
    await t('store ' + e, async () => { const s = await makeStore(e); await s.remove(); });
    await t('store+open ' + e, async () => { const s = await makeStore(e); await s.open(); await s.remove(); });
    await t('app ' + e, async () => { const s = await makeStore(e); const a = await openTestApp(s); await a.close(); await s.remove(); });
    await t('hub ' + e, async () => { const s = await makeStore(e); const a = await openInProcessHub(s); await a.close(); await s.remove(); });
    await t('startHub ' + e, async () => { const s = await makeStore(e); const a = await startHub({home: s.home, databaseUrl: s.databaseUrl}); await a.stop(); await s.remove(); });
    const s = await makeStore(e);
    await t('flow list ' + e, async () => flowright(['flow','list'], {home: s.home, databaseUrl: s.databaseUrl}));
    await s.remove();
  }
}, 200000);
