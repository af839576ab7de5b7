// Writes the address of every module that is loaded to the file that LOADED names, one a line.
import { appendFileSync } from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

export async function load(url, context, next) {
  appendFileSync(process.env.LOADED, `${url}\n`);
  return next(url, context);
}
