import { connect } from '../../src/database/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { settleWrites } from '../../src/vault/index.ts';
import { startDying } from '../support/die-at.ts';

/** A process that settles the planned writes of one place, and dies where the test wants it to. */
const [url, file, place, root] = process.argv.slice(2) as [string, string, string, string];
const database = await connect({ url: url || null, file });
startDying();
await settleWrites({ database, clock: systemClock, log: silentLog, rootOf: () => root }, place);
await database.close();
