// Starts two Flowise servers with fresh data and a scripted model server on free ports, runs the command with their
// addresses and keys in its environment, and stops what it started, also when it is told to end itself.
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bootstrap } from './bootstrap.mjs';
import { startModelServer } from './model-server.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const [install, ...given] = process.argv.slice(2);
const command = given.length > 0 ? given : ['npm', 'run', '--silent', 'test:flowise'];
const data = mkdtempSync(path.join(tmpdir(), 'flowright-live-'));
const started = [];

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function startFlowise(name) {
  const port = await freePort();
  const log = openSync(path.join(data, `${name}.log`), 'w');
  const child = spawn(path.join(here, 'start.sh'), [path.resolve(install), path.join(data, name), String(port)], {
    stdio: ['ignore', log, log],
  });
  started.push(child);
  const url = `http://127.0.0.1:${port}`;
  const died = new Promise((_resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`Flowise ended with ${code}; see ${data}/${name}.log`)));
  });
  died.catch(() => {});
  return { url, key: await Promise.race([bootstrap(url), died]) };
}

async function stop() {
  await Promise.all(
    started.map(
      (child) =>
        new Promise((resolve) => {
          if (child.exitCode !== null || child.signalCode !== null) return resolve();
          child.once('exit', resolve);
          child.kill('SIGKILL');
        }),
    ),
  );
}

async function run(env) {
  const child = spawn(command[0], command.slice(1), { stdio: 'inherit', env: { ...process.env, ...env } });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

let code = 1;
try {
  const model = await startModelServer();
  const [first, second] = await Promise.all([startFlowise('first'), startFlowise('second')]);
  console.error(`Flowise at ${first.url} and ${second.url}, model at ${model.url}`);
  code = await run({
    FLOWISE_API_URL: first.url,
    FLOWISE_API_KEY: first.key,
    FLOWISE_2_API_URL: second.url,
    FLOWISE_2_API_KEY: second.key,
    FLOWISE_MODEL_URL: model.url,
  });
  await model.close();
} catch (error) {
  console.error(error.message);
} finally {
  await stop();
}
if (code === 0) rmSync(data, { recursive: true, force: true });
else console.error(`Data and logs are kept in ${data}`);
process.exit(code);
