import { afterAll, beforeAll, expect } from 'vitest';
import type { TestStore } from '../support/databases.ts';
import { type Engine, openEngine, PATIENT } from '../support/engine.ts';
import { type ScriptedAnswer, type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts';

/**
 * A model that does what the prompt of the task says. HANG: never answers. SLOW: takes a while. PROSE: no JSON.
 * FLAKY: prose until the test says that it is mended. HUGE: more than an output may hold.
 */
export interface Scene {
  store: TestStore;
  engine: Engine;
  model: ScriptedModel;
  isMended: boolean;
  /** Waits until the model is asked nothing any more, and counts anew how much it is asked at once. */
  quiet(): Promise<void>;
  /** How often the model was asked with this text in the prompt. */
  askedFor(text: string): number;
}

/** Long enough for a test to do something meanwhile. */
const SLOW_MS = 400;

function answerTo(prompt: string, isMended: boolean): ScriptedAnswer {
  if (prompt.includes('HANG')) return { hang: true };
  if (prompt.includes('PROSE') || (prompt.includes('FLAKY') && !isMended)) return { text: 'I would rather not.' };
  if (prompt.includes('HUGE')) return { json: { text: 'x'.repeat(1_100_000) } };
  return { json: { ok: true }, ...(prompt.includes('SLOW') ? { delay_ms: SLOW_MS } : {}) };
}

/** One program for the tests of a suite, with a model that does as it is told. */
export function useScene(make: () => Promise<TestStore>, options: { withoutModel?: boolean } = {}): Scene {
  const scene = { isMended: false } as Scene;
  scene.askedFor = (text) => scene.model.requests.filter(({ prompt }) => prompt.includes(text)).length;
  scene.quiet = async () => {
    await expect.poll(() => scene.model.open.now, PATIENT).toBe(0);
    scene.model.open.most = 0;
  };
  beforeAll(async () => {
    scene.model = await startScriptedModel(({ prompt }) => answerTo(prompt, scene.isMended));
    scene.store = await make();
    scene.engine = await openEngine(scene.store, options.withoutModel ? {} : { env: scene.model.env });
  });
  afterAll(async () => {
    await scene.engine?.close();
    await scene.model?.close();
    await scene.store?.remove();
  });
  return scene;
}
