import type { NodeSchema } from '../flowise/index.ts';
import { stableStringify } from '../kernel/canonical-json.ts';
import { compareNodes } from './audit-compare.ts';
import { mergeEntries } from './merge-entries.ts';
import type { Findings } from './refresh-report.ts';

type News = Pick<Findings, 'known' | 'new' | 'changed' | 'removed' | 'texts'>;

/** What is different between the nodes that are known and those that the file will hold; of sentences only in how many. */
export function nodeNews(known: readonly NodeSchema[], next: readonly NodeSchema[]): News {
  const { added, removed } = mergeEntries(known, next, ({ node_type }) => node_type);
  const after = new Map(next.map((node) => [node.node_type, node]));
  const changed: News['changed'] = [];
  let texts = 0;
  for (const before of known) {
    const now = after.get(before.node_type);
    if (!now || stableStringify(before) === stableStringify(now)) continue;
    const { differences } = compareNodes(before, now);
    const fields = [...new Set(differences.map(({ path }) => path.split('/')[1] as string))];
    if (fields.length > 0) changed.push({ name: before.node_type, fields });
    else texts += 1;
  }
  return { known: known.length, new: added, changed, removed, texts };
}
