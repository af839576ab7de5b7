import type { Chatflow, NewChatflow } from '../flowise/index.ts';
import { hideSecretsInText } from '../kernel/secret-text.ts';

const TOLD = ['name', 'deployed', 'isPublic', 'category'] as const;
const shown = (value: unknown): string => hideSecretsInText(JSON.stringify(value ?? null));

/** What a write changes of a chatflow beside its flow, a line each: `name SET: "Old" -> "New"`. */
export function bodyLines(before: Chatflow | null, body: Partial<NewChatflow>): string[] {
  if (before === null) return [];
  return TOLD.filter((field) => field in body && shown(before[field]) !== shown(body[field])).map(
    (field) => `${field} SET: ${shown(before[field])} -> ${shown(body[field])}`,
  );
}

/** Both together, as one text; a flow that stays as it is goes without saying then. */
export function wholeSummary(lines: string[], diffSummary: string): string {
  if (lines.length === 0) return diffSummary;
  return [...lines, ...(diffSummary === '(no changes)' || diffSummary === '' ? [] : [diffSummary])].join('\n');
}
