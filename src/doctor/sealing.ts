import { statSync } from 'node:fs';
import type { Database, Queries } from '../database/index.ts';
import { opensNewestSecret } from '../flowise/index.ts';
import { lostKeyAdvice, readSealingKey } from '../home/index.ts';
import { asFlowrightError } from '../kernel/errors.ts';
import { unseal } from '../kernel/seal.ts';
import { holdsSealed } from '../sealing.ts';
import type { Finding } from './finding.ts';

/** The key that seals secrets: is it there, does nobody else read it, and is it the one that was used? */
export async function sealing({ queries }: Database, path: string): Promise<Finding> {
  let key: Buffer | null;
  try {
    key = readSealingKey(path);
  } catch (error) {
    const fix = `Mend ${path}, or put it back from a backup.`;
    return { state: 'wrong', what: asFlowrightError(error).message, fix };
  }
  if (!key) {
    if (!(await holdsSealed(queries))) return { state: 'good', what: 'nothing is sealed yet, and no key is needed' };
    const what = `${path} is missing, and the database holds what was sealed with it`;
    return { state: 'wrong', what, fix: lostKeyAdvice(path) };
  }
  const closed = [
    ...((await opensNewestSecret(queries, key)) === false ? ['the newest key of a Flowise server'] : []),
    ...((await opensNewestState(queries, key)) === false ? ['the newest content of a chatflow'] : []),
  ];
  if (closed.length > 0) {
    const fix = `Put back the ${path} of then; keys of servers can be added again with \`flowright server add\`.`;
    return { state: 'wrong', what: `${path} does not open ${closed.join(' and ')}`, fix };
  }
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    return { state: 'warning', what: `${path} is open to other users of this machine`, fix: `chmod 600 ${path}` };
  }
  return { state: 'good', what: `${path} is readable by you alone and opens what was sealed last` };
}

/** Null when none is stored. */
async function opensNewestState(queries: Queries, key: Buffer): Promise<boolean | null> {
  const row = await queries
    .selectFrom('chatflow_states')
    .select(['vault_id', 'flow_hash', 'content_sealed'])
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  // The purpose is the one that chatflows/states.ts seals with.
  return row ? unseal(key, `chatflow-state:${row.vault_id}:${row.flow_hash}`, row.content_sealed) !== null : null;
}
