import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { VAULT } from '../data-integrity/library.ts';
import { baseOf, openReview, type Review, withoutStarters } from '../data-integrity/review.ts';
import { filesIn } from '../data-integrity/vault-files.ts';
import { bundled } from '../support/bundled.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';

const EDITOR = fileURLToPath(new URL('./race-edits.ts', import.meta.url));
const PROCESSES = 4;
const EDITS = 25;

interface Editor {
  /** The next line it prints, as JSON. */
  round(name: string): Promise<string[]>;
  end(): Promise<void>;
}

async function startEditor(file: string, args: string[]): Promise<Editor> {
  const child: ChildProcess = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error('a process without pipes');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('ready');
  return {
    round: async (name) => {
      stdin.write(`${name}\n`);
      return JSON.parse((await lines.next()).value as string) as string[];
    },
    end: async () => {
      stdin.end();
      await once(child, 'exit');
    },
  };
}

const tally = (codes: string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
};

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let review: Review;

  beforeAll(async () => {
    store = await makeStore();
    review = await openReview(store);
    await withoutStarters(review, VAULT);
  });
  afterAll(async () => {
    await review?.close();
    await store?.remove();
  });

  const rowsOf = async (flowId: string) => {
    const { queries } = review.app.services.database;
    const versions = await queries
      .selectFrom('flow_versions')
      .select('version')
      .where('flow_id', '=', flowId)
      .execute();
    const proposals = await queries
      .selectFrom('proposals')
      .select(['status', 'flow_version'])
      .where('flow_id', '=', flowId)
      .where('flow_kind', '=', 'edit')
      .execute();
    return { versions: versions.map(({ version }) => version).sort(), proposals };
  };

  /** One edit won, in the library, in the list of proposals and on the disk. */
  const expectOneWinner = async (flowId: string): Promise<void> => {
    const { versions, proposals } = await rowsOf(flowId);
    const won = proposals.filter(({ status }) => status === 'approved');
    expect(won).toHaveLength(1);
    expect(versions).toEqual(['1.0.0', won[0]?.flow_version]);
    const others = proposals.filter(({ status }) => status !== 'approved');
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set(others.length > 0 ? ['conflicted'] : []));
    const { flow, steps } = await review.ask<{ flow: { version: string }; steps: { instruction: string }[] }>(
      'flow.get',
      { flow_id: flowId },
    );
    const number = flow.version.slice('1.0.'.length);
    expect(steps.map(({ instruction }) => instruction)).toEqual([`Edit ${number}.`, `Edit ${number}.`]);
    const { mirrors } = await review.ask<{ mirrors: { flow_id: string; version: string; state: string }[] }>(
      'flow.mirrors',
      {},
    );
    expect(mirrors.find(({ flow_id }) => flow_id === flowId)).toMatchObject({
      version: flow.version,
      state: 'in_step',
    });
  };

  it('[S003-7-one-of-many] [S003-4-conflict] [FLR-conflicted] of 100 edits of one flow by 4 processes exactly one applies', async () => {
    for (const flowId of ['flow_both', 'flow_phased']) {
      await review.approve((await review.propose(sampleFlow(flowId))).proposal_id);
    }
    const { file, remove } = await bundled(EDITOR);
    const editors = await Promise.all(
      Array.from({ length: PROCESSES }, (_, at) =>
        startEditor(file, [store.databaseUrl ?? '', store.home, String(at), String(EDITS)]),
      ),
    ).finally(remove);
    const round = async (name: string) => (await Promise.all(editors.map((editor) => editor.round(name)))).flat();

    expect(tally(await round('both'))).toEqual({ done: 1, FLOW_LINEAGE_CONFLICT: PROCESSES * EDITS - 1 });
    await expectOneWinner('flow_both');

    expect(tally(await round('propose'))).toEqual({ done: PROCESSES * EDITS });
    expect(tally(await round('approve'))).toEqual({ done: 1, FLOW_LINEAGE_CONFLICT: PROCESSES * EDITS - 1 });
    await expectOneWinner('flow_phased');
    expect((await rowsOf('flow_phased')).proposals).toHaveLength(PROCESSES * EDITS);

    await Promise.all(editors.map((editor) => editor.end()));
    const { queries } = review.app.services.database;
    expect(await queries.selectFrom('file_writes').select('path').execute()).toEqual([]);
    const notes = Object.keys(filesIn(join(store.home, 'vaults', VAULT)));
    expect(notes.filter((path) => path.startsWith('approvals/'))).toHaveLength(4);
    expect(notes.filter((path) => path.startsWith('meta/')).sort()).toEqual([
      'meta/flows/both.md',
      'meta/flows/phased.md',
    ]);
    const { broken_at, entries } = await review.app.services.auditLog.verify(VAULT);
    const audit = await review.app.services.auditLog.page(VAULT, { limit: 1_000 });
    expect([broken_at, entries]).toEqual([null, audit.length]);
    const approved = audit.filter(({ action, outcome }) => action === 'proposal.approve' && outcome === 'done');
    expect(approved).toHaveLength(4);
    const refused = audit.filter(({ outcome }) => outcome === 'refused');
    const counted = refused.reduce((sum, { occurrences }) => sum + occurrences, 0);
    expect(counted, 'every refusal is in the log, one by one or counted').toBe(2 * (PROCESSES * EDITS - 1));
  }, 180_000);

  it('[FLR-conflicted] whoever speaks about the losers while one wins is answered, and never with a fault', async () => {
    for (let round = 0; round < 6; round += 1) {
      const flowId = `flow_talk_${round}`;
      await review.approve((await review.propose(sampleFlow(flowId))).proposal_id);
      const base = await baseOf(review, flowId);
      const ids: string[] = [];
      for (let n = 1; n <= 12; n += 1) {
        ids.push((await review.propose({ ...sampleFlow(flowId, { version: `1.0.${n}` }), ...base })).proposal_id);
      }
      const acts = ids.map((proposal_id, at): [string, Record<string, unknown>] => {
        if (at === 6) return ['proposal.approve', { proposal_id }];
        if (at % 3 === 0) return ['proposal.comment', { proposal_id, body: 'And this?' }];
        if (at % 3 === 1) return ['proposal.evaluate', { proposal_id, outcome: 'fail', comment: 'No.' }];
        return ['proposal.discard', { proposal_id }];
      });
      const answers = await Promise.all(
        acts.map(([operation, input]) =>
          review.ask(operation, input).then(
            () => 'done',
            (error: { code: string }) => error.code,
          ),
        ),
      );
      expect(answers[6], 'the approval itself').toBe('done');
      for (const answer of answers) expect(answer).toMatch(/^(done|CONFLICT|BAD_REQUEST)$/);
    }
    expect((await review.app.services.auditLog.verify(VAULT)).broken_at).toBeNull();
  });

  it('[S003-7-one-of-many] eight drafts of 100 steps, each near a megabyte, are proposed, listed and approved at once', async () => {
    const words = (n: number, length: number) =>
      `${n} ${'Read it, weigh it, write it down. '.repeat(300)}`.slice(0, length);
    const drafts = Array.from({ length: 8 }, (_, n) => {
      const { flow, steps } = sampleFlow(`flow_large_${n}`, { steps: 100 });
      return {
        flow,
        steps: steps.map((step) => ({ ...step, instruction: words(n, 8_000), trigger: words(n, 2_000) })),
      };
    });
    expect(Buffer.byteLength(JSON.stringify(drafts[0]))).toBeGreaterThan(1_000_000);
    const proposals = await Promise.all(drafts.map((draft) => review.propose(draft)));
    const listed = await review.ask<{ proposals: unknown[] }>('proposal.list', { status: 'proposed', limit: 100 });
    expect(JSON.stringify(listed).length, 'no bodies in a list').toBeLessThan(100_000);
    const approved = await Promise.all(proposals.map(({ proposal_id }) => review.approve(proposal_id)));
    expect(approved.map(({ status, mirror_written }) => [status, mirror_written])).toEqual(
      approved.map(() => ['approved', true]),
    );
    for (const { flow, steps } of drafts) {
      const got = await review.ask<{ steps: unknown[] }>('flow.get', { flow_id: flow.flow_id });
      expect(JSON.stringify(got.steps)).toBe(JSON.stringify(steps));
      expect(
        existsSync(join(store.home, 'vaults', VAULT, `meta/flows/${flow.flow_id.slice(5).replaceAll('_', '-')}.md`)),
      ).toBe(true);
    }
  }, 120_000);

  it('[FLR-proposal-lists] a reader who pages through many proposals sees each once, while more come in', async () => {
    const create = (n: number) =>
      review.ask<{ proposal_id: string }>('proposal.create', {
        path: `many/n${n}.md`,
        body: 'x',
        intent: `Number ${n}`,
        labels: [n % 2 ? 'odd' : 'even'],
      });
    const ids: string[] = [];
    for (let n = 0; n < 150; n += 1) ids.push((await create(n)).proposal_id);
    let added = 150;
    const pages = async (filter: Record<string, unknown>): Promise<string[]> => {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page: { proposals: { proposal_id: string }[]; next_cursor: string | null } = await review.ask(
          'proposal.list',
          { ...filter, limit: 20, ...(cursor === null ? {} : { cursor }) },
        );
        seen.push(...page.proposals.map(({ proposal_id }) => proposal_id));
        cursor = page.next_cursor;
        await create(added);
        added += 1;
      } while (cursor !== null);
      return seen;
    };
    const newest = [...ids].reverse();
    const all = await pages({ path_prefix: 'many' });
    expect(all.filter((id) => ids.includes(id))).toEqual(newest);
    expect(new Set(all).size).toBe(all.length);
    const odd = await pages({ path_prefix: 'many', label: 'ODD', status: 'proposed' });
    expect(odd.filter((id) => ids.includes(id))).toEqual(newest.filter((id) => ids.indexOf(id) % 2 === 1));
  });
});
