import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { addFlows } from '../data-integrity/library.ts';
import { baseOf, openReview, type Review, withoutStarters } from '../data-integrity/review.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { fillVault } from './many-flows.ts';
import { fillProposals } from './many-proposals.ts';
import { compareFairly, describeComparison } from './measure.ts';

const LIMIT = 1.5;
const ROUNDS = 12;
const STEPS = 100;
const INSTRUCTION = 'Read the ticket, follow the checklist and write down what you changed. '.repeat(3);

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let review: Review;
  let database: Database;
  let count = 0;

  beforeAll(async () => {
    store = await makeStore();
    review = await openReview(store);
    database = review.app.services.database;
    const flows = (length: number) => Array.from({ length }, () => ({}));
    await fillVault(database, 'few', flows(100));
    await fillVault(database, 'many', flows(10_000));
    await fillVault(database, 'closed', flows(100));
    for (const vault of ['few', 'many', 'closed', 'long', 'short']) await withoutStarters(review, vault);
    await fillProposals(database, 'few', 50);
    await fillProposals(database, 'closed', 5_000);
    // A server of some age knows its tables; review-plans.test.ts sees to a young one.
    if (engine === 'postgres') await sql`analyze`.execute(database.queries);
  }, 120_000);
  afterAll(async () => {
    await review?.close();
    await store?.remove();
  });

  const expectWithin = async (
    limit: number,
    what: string,
    large: () => unknown,
    small: () => unknown,
    rounds = ROUNDS,
  ) => {
    const comparison = await compareFairly(limit, rounds, large, small);
    expect(comparison.ratio, describeComparison(`${engine}, ${what}`, comparison)).toBeLessThanOrEqual(limit);
  };

  /** Proposes and approves one more flow of 100 steps. */
  const reviewOne = async (vault: string): Promise<void> => {
    count += 1;
    const draft = sampleFlow(`flow_reviewed_${count}`, { steps: STEPS, instruction: INSTRUCTION });
    await review.approve((await review.propose(draft, vault)).proposal_id, vault);
  };

  it('[S003-7-performance] 10,000 other flows do not slow proposing and approving one of 100 steps', () =>
    expectWithin(
      LIMIT,
      'review among 10,000 flows against 100',
      () => reviewOne('many'),
      () => reviewOne('few'),
    ));

  it('[S003-7-performance] nor do 5,000 proposals that were decided before', () =>
    expectWithin(
      LIMIT,
      'review after 5,000 proposals against 50',
      () => reviewOne('closed'),
      () => reviewOne('few'),
    ));

  it('[S003-7-performance] [FLR-proposal-lists] listing open proposals costs the same however many are closed', async () => {
    for (const vault of ['few', 'closed']) {
      for (let at = 0; at < 20; at += 1) {
        await review.ask('proposal.create', { path: `open/n${at}.md`, body: 'x', intent: 'x' }, vault);
      }
    }
    for (const filter of [{ status: 'proposed' }, { status: 'conflicted' }, { limit: 20 }]) {
      const list = (vault: string) => () => review.ask('proposal.list', filter, vault);
      await expectWithin(LIMIT, JSON.stringify(filter), list('closed'), list('few'), 60);
    }
  });

  it('[S003-7-performance] an edit costs the same however many versions the flow has', async () => {
    const versions = (length: number) =>
      Array.from({ length }, (_, at) => sampleFlow('flow_old', { version: `1.${at}.0`, steps: 2 }));
    await addFlows(database, versions(480), 'long');
    await addFlows(database, versions(15), 'short');
    if (engine === 'postgres') await sql`analyze`.execute(database.queries);
    const edit = (vault: string) => async () => {
      const head = await database.queries
        .selectFrom('flows')
        .select(['version', 'state_id'])
        .where('vault_id', '=', vault)
        .executeTakeFirstOrThrow();
      count += 1;
      const draft = sampleFlow('flow_old', { version: `2.${count}.0`, steps: STEPS });
      const base = { base_version: head.version, base_state_id: head.state_id };
      await review.approve((await review.propose({ ...draft, ...base }, vault)).proposal_id, vault);
    };
    await expectWithin(LIMIT, 'an edit after 480 versions against 15', edit('long'), edit('short'));
  });

  it('[S003-7-performance] [FLR-versions] finding the versions of a flow costs in proportion to their number', async () => {
    await addFlows(
      database,
      Array.from({ length: 120 }, (_, at) => sampleFlow('flow_middle', { version: `1.${at}.0`, steps: 1 })),
      'short',
    );
    // Each round writes first, so that no answer is kept ready.
    const versions = (vault: string, flow_id: string) => async () => {
      await sql`update revisions set revision = revision + 1 where topic = ${`flows:${vault}`}`.execute(
        database.queries,
      );
      await baseOf(review, flow_id, vault);
    };
    await expectWithin(
      4 * LIMIT,
      '480 versions against 120',
      versions('long', 'flow_old'),
      versions('short', 'flow_middle'),
    );
  });
});
