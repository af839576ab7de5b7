/** One statement with its values; `?` marks each, on both engines. */
export interface Statement {
  sql: string;
  values: readonly (string | number | null)[];
}

export type Row = Record<string, string | number | null>;

/**
 * What happens in one transaction, said as statements: the script yields one and gets its rows. It says the same to both
 * engines, which differ only in whether the rows are there at once.
 */
export type Script<T> = Generator<Statement, T, Row[]>;

/** Yields the statement and returns its rows. */
export function* rows<R = Row>(sql: string, ...values: (string | number | null)[]): Generator<Statement, R[], Row[]> {
  return (yield { sql, values }) as R[];
}

/** PostgreSQL numbers its values. No statement of ours has a question mark in a text. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}
