// Runs every benchmark and prints ratios measured in this run. Ends with 1 when a wanted number was missed.
import { arch, cpus, platform } from 'node:os';
import { benchColdStart } from './cold-start.mjs';
import { benchHttp } from './http.mjs';
import { benchKnowledge } from './knowledge.mjs';
import { benchListScaling } from './list-scaling.mjs';
import { benchReview } from './review.mjs';

console.log(`Node ${process.versions.node}, ${platform()} ${arch()}, ${cpus().length} cores, embedded SQLite`);
const results = [benchColdStart(), benchListScaling(), await benchHttp(), await benchReview(), await benchKnowledge()];
if (!results.every(({ ok }) => ok)) {
  console.log('a wanted number was missed');
  process.exitCode = 1;
}
