import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { dieEverywhere, triedOf } from '../support/die-at.ts';
import {
  approvalState,
  expectApproved,
  expectWhole,
  type Kind,
  makeScene,
  notesOf,
  type Scene,
} from './approval-scene.ts';
import { holdGate } from './gate.ts';
import { useStore } from './library.ts';
import { openReview, type Review } from './review.ts';

const APPROVER = fileURLToPath(new URL('./approve-and-die.ts', import.meta.url));
const VAULT = 'fragile';

/** Makes the scene that a process will die in, the same for every step, and opens it again afterwards. */
interface Stage {
  scene(step: number): Promise<Scene>;
  reopen(scene: Scene): Promise<Review>;
}

/** Each step has a copy of the home. */
async function sqliteStage(store: TestStore, kind: Kind): Promise<Stage> {
  mkdirSync(store.home);
  const review = await openReview(store);
  const original = await makeScene(review, store, VAULT, kind);
  await review.close();
  return {
    scene: async (step) => {
      const home = `${store.home}-${step}`;
      cpSync(store.home, home, { recursive: true });
      return { ...original, store: { home, databaseUrl: undefined } };
    },
    reopen: (scene) => openReview(scene.store),
  };
}

/** Each step has a vault: copying a database takes longer than everything else here. */
async function postgresStage(store: TestStore, kind: Kind): Promise<Stage> {
  const review = await openReview(store);
  onTestFinished(() => review.close());
  return {
    scene: (step) => makeScene(review, store, `${VAULT}-${step}`, kind),
    reopen: async () => {
      const openGate = await holdGate(store.databaseUrl as string);
      try {
        return await openReview(store);
      } finally {
        await openGate();
      }
    },
  };
}

onEachDatabase((engine, makeStore) => {
  // Up to the commit the disk knows nothing, whatever is approved; so one kind dies there, step by step, for all.
  it.each<[Kind, 'start' | 'commit', number]>([
    ['edit', 'start', 0],
    ['new', 'commit', 1],
    ['move', 'commit', 2],
    ['retire', 'commit', 3],
  ])(
    '[FLR-crash-approve] [S003-3-apply-whole] a process that dies at any step of approving "%s", from the %s on, leaves all of it or nothing',
    async (kind, from, place) => {
      const folder = await useStore(makeStore);
      const store = { ...folder, home: join(folder.home, 'home') };
      const stage = engine === 'sqlite' ? await sqliteStage(store, kind) : await postgresStage(store, kind);
      const scenes = new Map<number, Scene>();
      const outcomes = { before: 0, after: 0 };
      await dieEverywhere(
        APPROVER,
        async (step) => {
          const scene = await stage.scene(step);
          scenes.set(step, scene);
          return [scene.store.databaseUrl ?? '', scene.store.home, scene.vault, scene.proposal, from];
        },
        async (step) => {
          const scene = scenes.get(step) as Scene;
          const found = notesOf(scene);
          const review = await stage.reopen(scene);
          let state = await approvalState(review, scene);
          outcomes[state.status === 'approved' ? 'after' : 'before'] += 1;
          if (state.status !== 'approved') {
            expect(state, `after a death at step ${step}`).toEqual(scene.before);
            await review.approve(scene.proposal, scene.vault);
            state = await approvalState(review, scene);
          }
          await expectApproved(review, scene, state);
          expectWhole(found, scene, state);
          await review.close();
        },
        engine === 'sqlite' ? place : place + 2,
      );
      // Fewer would mean that the steps are not counted.
      expect(outcomes.before).toBeGreaterThanOrEqual(triedOf(from === 'start' ? 20 : 1));
      expect(outcomes.after).toBeGreaterThan(triedOf(20));
    },
    300_000,
  );
});
