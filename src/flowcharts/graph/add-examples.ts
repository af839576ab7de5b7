import type { Database } from '../../database/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { nodeTypes } from '../nodes/registry.ts';
import { loadExamples } from './examples.ts';
import { importFlowchart } from './import-flowchart.ts';
import { readFlowchartFile } from './read-flowchart-file.ts';

/** Gives a vault the flowcharts that come with the program, all or those of the given names. Returns ids by name. */
export async function addExamples(
  database: Database,
  clock: Clock,
  owner: { vault_id: string; user_id: string },
  names?: readonly string[],
): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  const wanted = loadExamples().filter(({ name }) => names === undefined || names.includes(name));
  await database.transaction(async (trx) => {
    for (const { name, file: raw } of wanted) {
      const { file, issues } = readFlowchartFile(raw, nodeTypes);
      if (!file) throw new Error(`the example ${name} cannot be read: ${issues[0]?.message}`);
      const { flowchart } = await importFlowchart(trx, {
        vault_id: owner.vault_id,
        clock,
        dialect: database.dialect,
        created_by: owner.user_id,
        created_as: 'local',
        file,
      });
      ids.set(name, flowchart.id);
    }
  });
  return ids;
}
