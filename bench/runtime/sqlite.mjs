// The driver that the product uses, for everybody: peers are installed without building one of their own.
import { createRequire } from 'node:module';

export const BetterSqlite3 = createRequire(new URL('../../package.json', import.meta.url))('better-sqlite3');
