import { expect, it } from 'vitest';
import { makeStore } from '../support/databases.ts';
import { asked, end, given, openEngine, start, subflow } from '../support/engine.ts';
import { startScriptedModel } from '../support/scripted-model.ts';
it('deadlock?', async () => {
  const store = await makeStore('postgres');
  const model = await startScriptedModel(() => ({ json: { ok: true }, delay_ms: 50 }));
  const engine = await openEngine(store, { env: { ...model.env, FLOWRIGHT_RUNS_AT_ONCE: '200' } });
  const child = await engine.draw({ s: start, a: asked('x'), e: end }, ['s -> a', 'a -> e']);
  const parent = await engine.draw({ s: start, f: subflow(child), e: end }, ['s -> f', 'f -> e']);
  const errors: string[] = [];
  const ends: Record<string, number> = {};
  for (let round = 0; round < 12; round += 1) {
    const ids = await Promise.all(Array.from({ length: 12 }, () => engine.start(parent)));
    await Promise.all(ids.map(async (id) => {
      await engine.when(id, parent, ({ lines }) => lines.includes('f waiting') || lines.includes('e succeeded'));
      await new Promise((next) => setTimeout(next, Math.random() * 80));
      try { await engine.ask('run.cancel', { run_id: id, force: true }); } catch (error) { errors.push(String(error)); }
      const { run } = await engine.ended(id, parent);
      ends[run.status] = (ends[run.status] ?? 0) + 1;
    }));
  }
  console.log(errors.length, errors[0], ends);
  await engine.close(); await model.close(); await store.remove();
  expect(errors).toEqual([]);
}, 120_000);
