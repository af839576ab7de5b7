import { FlowrightError } from '../../kernel/errors.ts';

/** What PostgreSQL says of lost connections, no room, start and shutdown, and of transactions to be tried again. */
const PASSING_STATE = /^(08...|53...|57P..|40001|40P01)$/;
const PASSING_SQLITE = /^SQLITE_(BUSY|LOCKED|IOERR|FULL)/;
const LOST = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/;
/** The driver's own words, which come without a code. */
const UNCODED =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout)/;

/** The database does not answer, or wants to be asked again: no fault of the run, nor of the node that met it. */
export function isDatabaseFault(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if (thrown instanceof FlowrightError) return thrown.code === 'DATABASE_UNAVAILABLE';
  const { code } = thrown as { code?: unknown };
  if (typeof code !== 'string') return UNCODED.test(thrown.message);
  return PASSING_STATE.test(code) || PASSING_SQLITE.test(code) || LOST.test(code);
}
