import BetterSqlite3 from 'better-sqlite3';
import pg from 'pg';
import { startDying } from '../support/die-at.ts';
import { holdGate } from './gate.ts';
import { openReview } from './review.ts';

/**
 * A process that approves one proposal, and dies where the test wants it to: at any step, or at any step from the
 * commit on.
 */
const [databaseUrl, home, vault, proposal, from] = process.argv.slice(2) as [string, string, string, string, string];
if (databaseUrl) await holdGate(databaseUrl);
const { approve, close } = await openReview({ home, databaseUrl: databaseUrl || undefined });
if (from === 'commit') startDyingAtCommit();
else startDying();
await approve(proposal, vault);
await close();
process.exit();

/** The statement that commits is the first step. */
function startDyingAtCommit(): void {
  const memory = new BetterSqlite3(':memory:');
  const statements = Object.getPrototypeOf(memory.prepare('select 1')) as Record<
    string,
    (...args: unknown[]) => unknown
  >;
  memory.close();
  const { run } = statements;
  const { query } = pg.Client.prototype;
  const begin = (): void => {
    Object.assign(statements, { run });
    Object.assign(pg.Client.prototype, { query });
    startDying();
  };
  statements.run = function (this: BetterSqlite3.Statement, ...args) {
    if (this.source === 'commit') begin();
    return (this.source === 'commit' ? (statements.run as typeof run) : run)?.apply(this, args);
  };
  Object.assign(pg.Client.prototype, {
    query(this: pg.Client, ...args: unknown[]) {
      const isCommit = args[0] === 'commit' || (args[0] as { text?: string }).text === 'commit';
      if (isCommit) begin();
      return (isCommit ? pg.Client.prototype.query : query).apply(this, args as never);
    },
  });
}
