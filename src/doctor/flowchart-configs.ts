import type { Database } from '../database/index.ts';
import type { Finding } from './finding.ts';

const MAX_NAMED = 10;

/** Configs of an older contract are rewritten at the next start, and one that cannot be read stops it. */
export async function flowchartConfigs({ queries }: Database): Promise<Finding[]> {
  const rows = await queries
    .selectFrom('flowchart_nodes')
    .select(['id', 'flowchart_id', 'config_json'])
    .where('config_contract', '=', 0)
    .orderBy('id')
    .execute();
  const unreadable = rows.filter(({ config_json }) => !isReadable(config_json));
  if (unreadable.length === 0) return [{ state: 'good', what: 'configs of flowchart nodes can be read' }];
  const findings = unreadable.slice(0, MAX_NAMED).map(
    ({ id, flowchart_id }): Finding => ({
      state: 'wrong',
      what: `flowchart_nodes.id ${id} of flowchart ${flowchart_id} has a config_json that is not a JSON object: nothing can start`,
      fix: `Correct it with the database's own tool; an empty config is: update flowchart_nodes set config_json = '{}' where id = ${id}`,
    }),
  );
  const more = unreadable.length - findings.length;
  if (more === 0) return findings;
  const rest = { state: 'wrong', what: `and ${more} more like these`, fix: 'Mend those above, then run doctor again.' };
  return [...findings, rest as Finding];
}

/** Nothing and blanks are an empty config. */
function isReadable(text: string | null): boolean {
  if (text === null || text.trim() === '') return true;
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value);
  } catch {
    return false;
  }
}
