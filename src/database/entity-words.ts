import { sql } from 'kysely';
import type { DialectName, Queries, Trx } from './database.ts';

/** What the word index knows: everything that nodes remember and people look for. */
export type WordKind = 'memory' | 'plan' | 'milestone';

export interface WordEntry {
  kind: WordKind;
  id: number;
  vault_id: string;
  title: string | null;
  body: string | null;
}

export interface WordQuery {
  kind: WordKind;
  vault_id: string;
  query: string;
  limit: number;
  offset: number;
  /** Must every word occur, or one at least? Every one unless said. */
  match?: 'all' | 'any';
}

const KIND_NUMBERS = { memory: 0, plan: 1, milestone: 2 } as const satisfies Record<WordKind, number>;
const KINDS_AT_MOST = 4;
const MAX_QUERY_WORDS = 32;
const MAX_WORD = 64;
/** Of one field: more than any entity should say, and below what PostgreSQL can index. */
const MAX_INDEXED_CHARACTERS = 60_000;

/** Replaces what the index holds of one entity. */
export async function indexWords(trx: Trx, dialect: DialectName, entry: WordEntry): Promise<void> {
  const { kind, id, vault_id } = entry;
  const title = indexed(entry.title);
  const body = indexed(entry.body);
  if (dialect === 'sqlite') {
    await forgetWords(trx, dialect, kind, id);
    await sql`insert into entity_words (rowid, title, body, kind, entity_id, vault)
      values (${rowOf(kind, id)}, ${title}, ${`${body} ${placeWord(kind, vault_id)}`}, ${kind}, ${id}, ${vault_id})`.execute(
      trx,
    );
    return;
  }
  await sql`insert into entity_words (kind, entity_id, vault, words) values (${kind}, ${id}, ${vault_id},
      setweight(to_tsvector('simple', ${title}), 'A') || setweight(to_tsvector('simple', ${body}), 'D'))
    on conflict (kind, entity_id) do update set vault = excluded.vault, words = excluded.words`.execute(trx);
}

export async function forgetWords(trx: Trx, dialect: DialectName, kind: WordKind, id: number): Promise<void> {
  await (dialect === 'sqlite'
    ? sql`delete from entity_words where rowid = ${rowOf(kind, id)}`
    : sql`delete from entity_words where kind = ${kind} and entity_id = ${id}`
  ).execute(trx);
}

/**
 * One page of the entities in which the words of the query occur, best match first, and how many there are in all. The
 * last word may be the beginning of one. A query without any word finds nothing.
 */
export async function searchWords(
  queries: Queries,
  dialect: DialectName,
  query: WordQuery,
): Promise<{ ids: number[]; total: number }> {
  const words = wordsOf(query.query).slice(0, MAX_QUERY_WORDS);
  if (words.length === 0) return { ids: [], total: 0 };
  const { limit, offset } = query;
  const from = dialect === 'sqlite' ? sqliteMatches(words, query) : postgresMatches(words, query);
  const rank = dialect === 'sqlite' ? sql`bm25(entity_words, 10, 1)` : sql`ts_rank(entity_words.words, wanted) desc`;
  const page = await sql<{ entity_id: number }>`select entity_id ${from}
    order by ${rank}, entity_id desc limit ${limit} offset ${offset}`.execute(queries);
  const ids = page.rows.map(({ entity_id }) => Number(entity_id));
  if (offset === 0 && ids.length < limit) return { ids, total: ids.length };
  const count = await sql<{ total: number }>`select count(*) as total ${from}`.execute(queries);
  return { ids, total: Number(count.rows[0]?.total ?? 0) };
}

function sqliteMatches(words: readonly string[], { kind, vault_id, match }: WordQuery) {
  const wanted = words.map((word, at) => `"${word}"${at === words.length - 1 ? '*' : ''}`);
  const text = `(${wanted.join(match === 'any' ? ' OR ' : ' AND ')}) AND body : "${placeWord(kind, vault_id)}"`;
  return sql`from entity_words where entity_words match ${text} and kind = ${kind} and vault = ${vault_id}`;
}

function postgresMatches(words: readonly string[], { kind, vault_id, match }: WordQuery) {
  const wanted = words.map((word, at) => `${word}${at === words.length - 1 ? ':*' : ''}`);
  return sql`from entity_words, to_tsquery('simple', ${wanted.join(match === 'any' ? ' | ' : ' & ')}) as wanted
    where entity_words.words @@ wanted and kind = ${kind} and vault = ${vault_id}`;
}

/** Plain lower-case words without accents or signs, so that both engines index and match the very same ones. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, MAX_WORD));
}

function indexed(text: string | null): string {
  return wordsOf(text ?? '')
    .join(' ')
    .slice(0, MAX_INDEXED_CHARACTERS);
}

/** FTS5 finds a row quickly by its number only, so the number says which entity it is. */
function rowOf(kind: WordKind, id: number): number {
  return id * KINDS_AT_MOST + KIND_NUMBERS[kind];
}

/**
 * Kind and vault as one word of the index, so that a search never walks the words of other vaults. It begins with a
 * private-use character, which no word of a text or a query can.
 */
function placeWord(kind: WordKind, vaultId: string): string {
  return `\ue000${KIND_NUMBERS[kind]}v${Buffer.from(vaultId, 'utf8').toString('hex')}`;
}
