import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { Files } from '../../src/vault/index.ts';
import { onEachDatabase } from '../support/databases.ts';
import { useStore } from './library.ts';
import { filesIn, testPlace, writeByHand } from './vault-files.ts';

const ACTS = ['plan', 'plan blindly', 'plan removal', 'edit', 'delete', 'settle'] as const;
type Act = (typeof ACTS)[number];

/** One file, as it should be: what lies there, what is planned for it, and what was kept aside. */
class Model {
  file: string | null = null;
  aside: string[] = [];
  #planned: { before: string | null; text: string | null }[] = [];

  /** What committed changes want to be there. */
  get current(): string | null {
    const last = this.#planned.at(-1);
    return last ? last.text : this.file;
  }

  plan(text: string | null, before: string | null): void {
    this.#planned.push({ before, text });
  }

  settle(): void {
    const last = this.#planned.at(-1);
    if (!last) return;
    const ours = this.#planned.flatMap(({ before, text }) => [before, text]);
    if (this.file !== null && !ours.includes(this.file)) this.aside.push(this.file);
    this.file = last.text;
    this.#planned = [];
  }
}

onEachDatabase((_engine, makeStore) => {
  // Whatever is planned, edited by hand, deleted and settled, in whatever order: afterwards the file holds what was
  // planned last, and every edit that no plan knew of lies beside it.
  it('[FLR-file-writes] no edit is lost, whatever happens in whatever order', async () => {
    const store = await useStore(makeStore);
    const database = await store.open();
    let runs = 0;
    const check = async (acts: Act[]): Promise<void> => {
      runs += 1;
      const vaultsDir = join(store.home, 'model');
      const root = join(vaultsDir, `m${runs}`);
      mkdirSync(root, { recursive: true });
      const { place, plan, settle } = testPlace(database, `vault:m${runs}`, root, systemClock);
      const files = new Files({ database, clock: systemClock, log: silentLog, home: root, vaultsDir });
      const model = new Model();
      const write = (text: string | null): void => {
        if (text === null) rmSync(join(root, 'a.md'), { force: true });
        else writeByHand(root, 'a.md', text);
        model.file = text;
      };
      const perform: Record<Act, (at: number) => unknown> = {
        plan: (at) => {
          model.plan(`planned ${at}`, model.current);
          return database.transaction((trx) => files.plan(trx, { place, path: 'a.md', text: `planned ${at}` }));
        },
        'plan blindly': (at) => {
          model.plan(`planned ${at}`, 'never there');
          return plan('a.md', `planned ${at}`, 'never there');
        },
        'plan removal': () => {
          model.plan(null, 'never there');
          return plan('a.md', null, 'never there');
        },
        edit: (at) => write(`by hand ${at}`),
        delete: () => write(null),
        settle: () => {
          model.settle();
          return settle();
        },
      };
      for (const [at, act] of acts.entries()) await perform[act](at);
      await perform.settle(acts.length);
      const { 'a.md': file = null, ...beside } = filesIn(root);
      expect(file).toBe(model.file);
      expect(Object.values(beside).sort()).toEqual([...model.aside].sort());
    };
    await fc.assert(fc.asyncProperty(fc.array(fc.constantFrom(...ACTS), { minLength: 1, maxLength: 15 }), check), {
      numRuns: 250,
    });
  }, 120_000);
});
