import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mirroredAt, mirrorOf } from '../../src/authoring/mirror-rows.ts';
import type { Database, Trx } from '../../src/database/index.ts';
import { readHead } from '../../src/flows/apply.ts';
import type { Principal } from '../../src/operations/index.ts';
import {
  commentsOf,
  findByIdempotencyKey,
  findProposal,
  listProposals,
  markConflicted,
} from '../../src/proposals/proposal-store.ts';
import type { ProposalRow } from '../../src/proposals/record.ts';
import { EVERY_SCOPE } from '../data-integrity/library.ts';
import { makeStore, type TestStore } from '../support/databases.ts';
import { fillVault } from './many-flows.ts';
import { fillProposals } from './many-proposals.ts';
import { type Ask, postgresPlans, sqlitePlans } from './plans.ts';

const VAULT = 'v';
const ADMIN: Principal = {
  user_id: 'local',
  kind: 'local',
  vault_id: VAULT,
  role: 'admin',
  visible_scopes: EVERY_SCOPE,
  ambiguous: false,
  actor_hash: '',
};
const WINNER = { vault_id: VAULT, proposal_key: 1, target: 'flow', scope: 'personal' } as ProposalRow;
const NOTE = { ...WINNER, target: 'note', scope: null } as ProposalRow;
const trxOf = ({ queries }: Database) => queries as Trx;

/** What proposing, reading and approving look up, whatever else is stored. */
const LOOK_UPS: [string, Ask, string?][] = [
  [
    'one proposal',
    ({ queries }) => findProposal(queries, ADMIN, '00000000-0000-4000-8000-000000000000'),
    'proposals_proposal_id_key',
  ],
  [
    'open proposals',
    ({ queries }) => listProposals(queries, ADMIN, { status: 'proposed', limit: 51 }),
    'proposals_by_status',
  ],
  ['the newest proposals', ({ queries }) => listProposals(queries, ADMIN, { limit: 51 })],
  [
    'the next page',
    ({ queries }) => listProposals(queries, ADMIN, { status: 'approved', before: 900, limit: 51 }),
    'proposals_by_status',
  ],
  [
    'what an earlier request made',
    ({ queries }) => findByIdempotencyKey(queries, VAULT, 'local', 'key-v-7'),
    'proposals_vault_id_proposed_by_idempotency_key_key',
  ],
  ['the comments of a proposal', ({ queries }) => commentsOf(queries, 7), 'proposal_comments_by_proposal'],
  [
    'the losers of a flow',
    (database) => markConflicted(trxOf(database), WINNER, { flow_id: 'flow_n7' }, 'now'),
    'proposals_by_flow',
  ],
  [
    'the losers of a note',
    (database) => markConflicted(trxOf(database), NOTE, { path: 'projects/n7.md' }, 'now'),
    'proposals_by_path',
  ],
  ['the head of a flow', ({ queries }) => readHead(queries, VAULT, 'flow_n7'), 'flows_vault_id_flow_id_key'],
  ['the mirror of a flow', ({ queries }) => mirrorOf(queries, VAULT, 'flow_n7'), 'flow_mirrors_vault_id_flow_id_key'],
  ['the flow of a mirror', ({ queries }) => mirroredAt(queries, VAULT, 'meta/flows/n7.md'), 'flow_mirrors_pkey'],
];

async function fill(store: TestStore): Promise<Database> {
  const database = await store.open();
  await fillVault(
    database,
    VAULT,
    Array.from({ length: 2_000 }, () => ({})),
  );
  await fillProposals(database, VAULT, 3_000);
  const mirrors = Array.from({ length: 2_000 }, (_, at) => ({
    vault_id: VAULT,
    path: `meta/flows/n${at}.md`,
    flow_id: `flow_n${at}`,
    version: '1.0.0',
    text_sha256: '',
  }));
  await database.queries.insertInto('flow_mirrors').values(mirrors).execute();
  return database;
}

describe.each(['sqlite', 'postgres'] as const)('on %s', (engine) => {
  let store: TestStore;
  let database: Database;
  beforeAll(async () => {
    store = await makeStore(engine);
    database = await fill(store);
  });
  afterAll(() => store?.remove());

  it.each(LOOK_UPS)(
    '[S003-7-performance] %s: found by an index, without looking at the rest',
    async (_what, ask, index) => {
      if (engine === 'sqlite') {
        const plans = await sqlitePlans(store, database, ask);
        expect(plans).not.toEqual([]);
        for (const detail of plans.flat()) {
          expect(detail).not.toMatch(/^SCAN/);
          expect(detail).not.toMatch(/TEMP B-TREE/);
        }
        return;
      }
      const plans = await postgresPlans(database, ask);
      expect(plans).not.toEqual([]);
      for (const plan of plans) {
        expect(plan).not.toMatch(/Seq Scan/);
        // Nobody has told a young server how its rows differ; it finds the right index all the same.
        if (index) expect(plan).toContain(index);
      }
    },
  );
});
