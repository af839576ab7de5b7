import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { onEachDatabase } from '../support/databases.ts';
import { dieEverywhere } from '../support/die-at.ts';
import { useStore } from './library.ts';
import { filesIn, type TestPlace, testPlace, writeByHand } from './vault-files.ts';

const SETTLER = fileURLToPath(new URL('./settle-files.ts', import.meta.url));
const clock = { now: () => new Date('2026-01-31T10:20:30.456Z') };
const ASIDE = 'edited-20260131T102030Z';

const SETTLED = {
  'edited.md': 'new',
  [`edited.${ASIDE}.md`]: 'by hand',
  [`gone-edited.${ASIDE}.md`]: 'by hand',
  'known.md': 'new',
  'new/deep/note.md': 'new',
  'same.md': 'new',
  'twice.md': 'two',
};

/** One of each case that settling knows. */
async function prepare({ root, plan }: TestPlace): Promise<void> {
  mkdirSync(root);
  for (const path of ['known.md', 'gone.md']) writeByHand(root, path, 'old');
  for (const path of ['edited.md', 'gone-edited.md']) writeByHand(root, path, 'by hand');
  writeByHand(root, 'same.md', 'new');
  await plan('new/deep/note.md', 'new', null);
  for (const path of ['known.md', 'edited.md', 'same.md']) await plan(path, 'new', 'old');
  for (const path of ['gone.md', 'gone-edited.md']) await plan(path, null, 'old');
  await plan('twice.md', 'one', null);
  await plan('twice.md', 'two', 'one');
}

/** What a reader may meet at any moment: whole texts, old or new, and every edit somewhere. */
function expectWhole(root: string): void {
  const files = filesIn(root);
  const has = (path: string, ...texts: (string | undefined)[]) => expect(texts, path).toContain(files[path]);
  has('known.md', 'old', 'new');
  has('gone.md', 'old', undefined);
  has('same.md', 'new');
  has('twice.md', undefined, 'two');
  has('new/deep/note.md', undefined, 'new');
  has('edited.md', 'by hand', 'new');
  has('gone-edited.md', 'by hand', undefined);
  if (files['edited.md'] === 'new') has(`edited.${ASIDE}.md`, 'by hand');
  if (files['gone-edited.md'] === undefined) has(`gone-edited.${ASIDE}.md`, 'by hand');
}

onEachDatabase((engine, makeStore) => {
  it('[FLR-file-writes] a process that dies at any step of settling leaves whole files, and the next one ends it', async () => {
    const store = await useStore(makeStore);
    const database = await store.open();
    const at = (step: number) => testPlace(database, `vault:s${step}`, join(store.home, `s${step}`), clock);
    const deaths = await dieEverywhere(
      SETTLER,
      async (step) => {
        const place = at(step);
        await prepare(place);
        return [store.databaseUrl ?? '', join(store.home, 'flowright.db'), place.place, place.root];
      },
      async (step) => {
        const place = at(step);
        expectWhole(place.root);
        await place.settle();
        expect(filesIn(place.root), `after a death at step ${step}`).toEqual(SETTLED);
        expect(await place.pending()).toEqual([]);
        expect(await place.settle(), 'settling again does nothing').toEqual({
          written: [],
          kept_aside: [],
          failed: [],
        });
        expect(filesIn(place.root)).toEqual(SETTLED);
      },
      engine === 'sqlite' ? 0 : 2,
    );
    // Fewer would mean that the steps are not counted.
    expect(deaths).toBeGreaterThan(60);
  }, 300_000);
});
