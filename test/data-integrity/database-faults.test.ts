import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import type { NodeType } from '../../src/flowcharts/nodes/node-type.ts';
import { nodeTypes } from '../../src/flowcharts/nodes/registry.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { openRunScene, type RunScene } from '../support/run-scene.ts';
import { walkingEngine } from '../support/walking-engine.ts';
import { expectEverythingOnce, makeEffectRun } from './crash-scene.ts';

const NODES = 60;
const TAKES_MS = 40_000;
const lost = () => new Error('Connection terminated unexpectedly');

type Fault = 'script refused' | 'script answer lost' | 'effect refused' | 'effect answer lost' | 'node refused';
const FAULTS: readonly Fault[] = [
  'script refused',
  'effect refused',
  'node refused',
  'script answer lost',
  'effect answer lost',
];

/** Faults that are to happen, each once, some calls after the one before. */
function faultsToCome(): { strikes(fault: Fault): boolean; left(): number } {
  const coming = [...FAULTS];
  let calls = 0;
  return {
    strikes: (fault) => {
      calls += 1;
      if (coming[0] !== fault || calls < 25) return false;
      calls = 0;
      coming.shift();
      return true;
    },
    left: () => coming.length,
  };
}

/** The same database, whose connection is lost before a commit, or after it and before the answer. */
function unreliable(database: Database, strikes: (fault: Fault) => boolean): Database {
  return {
    ...database,
    script: async (make) => {
      if (strikes('script refused')) throw lost();
      const value = await database.script(make);
      if (strikes('script answer lost')) throw lost();
      return value;
    },
    transaction: async (work) => {
      if (strikes('effect refused')) throw lost();
      const value = await database.transaction(work);
      if (strikes('effect answer lost')) throw lost();
      return value;
    },
  };
}

function refusing(type: NodeType, strikes: (fault: Fault) => boolean): NodeType {
  return {
    ...type,
    execute: async (execution) => {
      if (strikes('node refused')) throw lost();
      return type.execute(execution);
    },
  };
}

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let scene: RunScene;

  beforeAll(async () => {
    store = await makeStore();
    scene = await openRunScene(store);
  });
  afterAll(async () => {
    await store?.remove();
  });

  it('[FLR-database-fault] a run waits out a database that loses connections, before a commit and after it', async () => {
    const run = await makeEffectRun(scene, NODES);
    const { strikes, left } = faultsToCome();
    const types = new Map([...nodeTypes].map(([name, type]) => [name, refusing(type, strikes)]));
    const engine = walkingEngine(unreliable(await store.open(), strikes), types, 1);
    await engine.start();
    await scene.ended([run.runId], TAKES_MS);
    await engine.close();
    expect(left(), 'every fault has happened').toBe(0);
    await expectEverythingOnce(scene, run);
  });
});
