// 500 runs asked for at once; how much memory the process holds when the 100th and the 500th have ended.
import { pathToFileURL } from 'node:url';
import { linear } from './graphs.mjs';

const [bundle, home] = process.argv.slice(2);
const { openEngine } = await import(pathToFileURL(bundle).href);
const engine = await openEngine(home);
const id = await engine.save('small', linear(5));
for (let at = 0; at < 20; at += 1) await engine.run(id);
let ended = 0;
let at100 = 0;
const resident = () => {
  globalThis.gc();
  return process.memoryUsage().rss;
};
await Promise.all(
  Array.from({ length: 500 }, async () => {
    await engine.run(id);
    ended += 1;
    if (ended === 100) at100 = resident();
  }),
);
process.stdout.write(JSON.stringify({ at100, at500: resident() }));
await engine.close();
