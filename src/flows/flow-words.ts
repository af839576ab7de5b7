import { sql } from 'kysely';
import type { Database, Queries, Trx } from '../database/index.ts';
import type { Scope } from '../operations/index.ts';
import type { Flow, FlowStep, FlowSummary } from './flow-schema.ts';

const MAX_QUERY_WORDS = 16;
/** Of one field; far above any sensible flow, and below what PostgreSQL can index. */
const MAX_INDEXED_CHARACTERS = 60_000;
const MAX_WORD = 64;

/** Plain lower-case words without accents, so that both engines index and match the very same ones. */
export function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}

function indexed(text: string): string {
  const words = wordsOf(text).map((word) => word.slice(0, MAX_WORD));
  return words.join(' ').slice(0, MAX_INDEXED_CHARACTERS);
}

/** Replaces a flow's entry in the word index with the words of its latest version. */
export async function indexFlowWords(
  trx: Trx,
  dialect: Database['dialect'],
  entry: { key: number; vaultId: string; flow: Flow; steps: FlowStep[] },
): Promise<void> {
  const { flow, steps } = entry;
  const title = indexed(`${flow.title} ${flow.flow_id}`);
  const tags = indexed(flow.tags.join(' '));
  const summary = indexed(flow.summary);
  const body = indexed(steps.flatMap(stepTexts).join(' '));
  if (dialect === 'sqlite') {
    await sql`delete from flow_words where rowid = ${entry.key}`.execute(trx);
    await sql`insert into flow_words (rowid, title, tags, summary, steps, vault)
      values (${entry.key}, ${title}, ${tags}, ${summary}, ${body}, ${vaultWord(entry.vaultId)})`.execute(trx);
    return;
  }
  await sql`insert into flow_words (flow_key, words) values (${entry.key},
      setweight(to_tsvector('simple', ${title}), 'A') || setweight(to_tsvector('simple', ${tags}), 'B') ||
      setweight(to_tsvector('simple', ${summary}), 'C') || setweight(to_tsvector('simple', ${body}), 'D'))
    on conflict (flow_key) do update set words = excluded.words`.execute(trx);
}

/** Flows in which every word of the query occurs, as a whole word or a beginning; best match first. */
export async function searchFlowWords(
  queries: Queries,
  dialect: Database['dialect'],
  vaultId: string,
  query: { text: string; scopes: readonly Scope[]; limit: number },
): Promise<FlowSummary[]> {
  const words = wordsOf(query.text)
    .slice(0, MAX_QUERY_WORDS)
    .map((word) => word.slice(0, MAX_WORD));
  if (words.length === 0 || query.scopes.length === 0) return [];
  const scopes = sql.join(query.scopes);
  const visible = sql`flows.vault_id = ${vaultId} and flows.scope in (${scopes}) and flows.retired_at is null`;
  const result = await (dialect === 'sqlite'
    ? sql<{ summary_json: string }>`select flows.summary_json from flow_words
        join flows on flows.flow_key = flow_words.rowid
        where flow_words match ${ftsMatch(words, vaultId)} and ${visible}
        order by bm25(flow_words, 1000, 100, 10, 1, 0), flows.flow_id limit ${query.limit}`
    : sql<{ summary_json: string }>`select flows.summary_json from flow_words
        join flows on flows.flow_key = flow_words.flow_key,
        to_tsquery('simple', ${words.map((word) => `${word}:*`).join(' & ')}) as wanted
        where flow_words.words @@ wanted and ${visible}
        order by ts_rank(flow_words.words, wanted) desc, flows.flow_id limit ${query.limit}`
  ).execute(queries);
  return result.rows.map(({ summary_json }) => JSON.parse(summary_json) as FlowSummary);
}

function ftsMatch(words: string[], vaultId: string): string {
  const wanted = words.map((word) => `"${word}"*`).join(' AND ');
  return `{title tags summary steps} : (${wanted}) AND vault : "${vaultWord(vaultId)}"`;
}

function stepTexts(step: FlowStep): string[] {
  return [
    step.owned_job,
    step.instruction,
    step.trigger,
    step.when_not_to_run,
    ...step.boundaries,
    step.output_shape,
    step.verification.description,
  ];
}

/** The vault id as one word of the index; hex, because ids may hold characters that would split it. */
function vaultWord(vaultId: string): string {
  return `v${Buffer.from(vaultId, 'utf8').toString('hex')}`;
}
