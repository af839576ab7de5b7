import pg from 'pg';

const GATE = 20_260_131;

/**
 * Keeps everybody else who asks for it out until the process dies or the gate is opened again. A process that starts
 * writes whatever files are still to be written, also those of another that is about to die half-way; a test that wants
 * the other to come that far lets them start in turns.
 */
export async function holdGate(databaseUrl: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('select pg_advisory_lock($1)', [GATE]);
  return () => client.end();
}
