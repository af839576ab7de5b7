import { describe, expect, it } from 'vitest';
import { runConformance } from './conformance.ts';
import { HAS_REAL, realServers } from './real.ts';
import { sender } from './target.ts';
import { tracesText } from './trace.ts';

/** The version whose answers are kept; another one may differ, and then says where. */
const RECORDED = '3.1.4';

describe.skipIf(!HAS_REAL)('a real Flowise', () => {
  it('answers as it was recorded, and so as the fake one does', async () => {
    const { first, stop } = await realServers();
    const { json } = await sender(first)('GET', '/version');
    const text = tracesText(await runConformance(first));
    await stop();
    // `npm run test:flowise -- -u` records anew.
    if (json.version === RECORDED) await expect(text).toMatchFileSnapshot('../fixtures/flowise/conformance.json');
    else console.error(`Flowise ${json.version}: not compared with the answers of ${RECORDED}.`);
  });
});
