import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { programOn, useStore } from '../data-integrity/library.ts';
import { importStore, vaultPart, writeStoreFile } from '../data-integrity/store-files.ts';
import { onEachDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowrightJson, type Hub, startHub } from '../support/program.ts';

const READS = 200;
const FLOWS = 30;
const SCOPES = ['personal', 'project', 'org'] as const;

let hub: Hub | undefined;
afterEach(async () => {
  await hub?.stop();
  hub = undefined;
});

/** All flows in version 1.<round>.0, written in one transaction by an import. */
const round = (n: number) =>
  vaultPart(
    Array.from({ length: FLOWS }, (_, at) =>
      sampleFlow(`flow_w${at}`, { version: `1.${n}.0`, tags: ['written'], scope: SCOPES[at % 3] ?? 'org' }),
    ),
  );

onEachDatabase((_engine, makeStore) => {
  it('[FLR-freshness-cross-process] 200 reads at once, while another process writes, each see one whole state', async () => {
    const store = await useStore(makeStore);
    const options = { ...programOn(store), env: { FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '1000000' } };
    const write = (n: number) =>
      importStore(writeStoreFile(join(store.home, `in-${n}`), { default: round(n) }), options);
    await write(1);
    const { token } = await flowrightJson<{ token: string }>(
      ['token', 'create', '--user', 'local', '--role', 'admin'],
      options,
    );
    hub = await startHub(options);
    const { url } = hub;
    const ask = async (path: string): Promise<{ status: number; body: string }> => {
      const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
      return { status: response.status, body: await response.text() };
    };
    const versionsIn = (body: string): string[] => {
      const { flows } = JSON.parse(body) as { flows: { flow_id: string; version: string }[] };
      const ours = flows.filter(({ flow_id }) => flow_id.startsWith('flow_w'));
      expect(ours, 'every flow once').toHaveLength(FLOWS);
      return [...new Set(ours.map(({ version }) => version))];
    };
    const seen = new Set<string>();
    for (let n = 2; n <= 5; n += 1) {
      let isWritten = false;
      const writing = write(n).then(() => {
        isWritten = true;
      });
      do {
        const paths = Array.from({ length: READS }, (_, at) =>
          at % 4 === 3 ? `/api/v1/flows/flow_w${at % FLOWS}` : `/api/v1/flows${at % 4 === 2 ? '?tag=written' : ''}`,
        );
        const answers = await Promise.all(paths.map(ask));
        expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
        for (const [at, { body }] of answers.entries()) {
          if (at % 4 === 3) continue;
          const versions = versionsIn(body);
          expect(versions, 'one state, not two').toHaveLength(1);
          seen.add(versions[0] ?? '');
        }
      } while (!isWritten);
      await writing;
      expect(versionsIn((await ask('/api/v1/flows')).body)).toEqual([`1.${n}.0`]);
    }
    expect([...seen].length, 'reads saw the library change').toBeGreaterThan(1);
  }, 180_000);
});
