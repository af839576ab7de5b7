import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleInMirror } from '../../src/authoring/mirror-note.ts';
import { type FlowBundle, validateFlowBundle } from '../../src/flows/index.ts';
import { parseNote } from '../../src/vault/index.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { bundleOf, content } from './any-bundle.ts';
import { baseOf, openReview, type Proposed, type Review, withoutStarters } from './review.ts';

/** As text, which also holds the order of keys, and without the time that the server stamps. */
const told = ({ flow, steps }: FlowBundle): string => JSON.stringify({ flow: { ...flow, updated: '' }, steps });

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let review: Review;

  beforeAll(async () => {
    store = await makeStore();
    review = await openReview(store);
    for (const vault of ['second', 'third', 'authors', 'readers']) await withoutStarters(review, vault);
  });
  afterAll(async () => {
    await review?.close();
    await store?.remove();
  });

  const exported = (flow_id: string, vault?: string) => review.ask<FlowBundle>('flow.export', { flow_id }, vault);
  const imported = async (bundle: FlowBundle, vault: string): Promise<void> => {
    const { proposal_id } = await review.ask<Proposed>('flow.import', { bundle, intent: 'Bring it here' }, vault);
    await review.approve(proposal_id, vault);
  };

  it('[FLR-export-import] every starter goes from vault to vault and stays the same text, except updated', async () => {
    const { flows } = await review.ask<{ flows: { flow_id: string }[] }>('flow.list', {});
    expect(flows).toHaveLength(6);
    for (const { flow_id } of flows) {
      const first = await exported(flow_id);
      await imported(first, 'second');
      const second = await exported(flow_id, 'second');
      expect(second.flow.updated > first.flow.updated, 'the server stamps the time').toBe(true);
      expect(JSON.stringify({ ...second, flow: { ...second.flow, updated: first.flow.updated } })).toBe(
        JSON.stringify(first),
      );
      await imported(second, 'third');
      expect(told(await exported(flow_id, 'third'))).toBe(told(first));
      expect(JSON.stringify(second)).not.toMatch(/second|default|"local"/);
    }
    const listed = await review.ask<{ flows: { flow_id: string }[] }>('flow.list', {}, 'second');
    expect(listed.flows.map(({ flow_id }) => flow_id).sort()).toEqual(flows.map(({ flow_id }) => flow_id).sort());
  });

  describe('[S003-4-new-row] [FLR-export-import] whatever its text, a flow that is accepted', () => {
    /** Proposed, approved, read back in four ways, and carried to another vault. */
    const carry = async (bundle: FlowBundle): Promise<void> => {
      const { flow_id } = bundle.flow;
      const { proposal_id } = await review.propose(bundle, 'authors');
      const proposal = await review.ask<{ body: string }>('proposal.get', { proposal_id }, 'authors');
      expect(told(JSON.parse(proposal.body) as FlowBundle)).toBe(told(bundle));
      const { mirror_path } = await review.approve(proposal_id, 'authors');
      const got = await review.ask<FlowBundle>('flow.get', { flow_id }, 'authors');
      expect(told(got)).toBe(told(bundle));
      const mirror = readFileSync(join(store.home, 'vaults', 'authors', mirror_path as string), 'utf8');
      expect(bundleInMirror(parseNote(mirror).body)).toEqual({ flow: got.flow, steps: got.steps });
      await imported(await exported(flow_id, 'authors'), 'readers');
      expect(told(await exported(flow_id, 'readers'))).toBe(told(bundle));
    };

    it('comes through proposal, approval, mirror, export and import byte for byte', async () => {
      let count = 0;
      let accepted = 0;
      await fc.assert(
        fc.asyncProperty(content, async (parts) => {
          count += 1;
          const verdict = validateFlowBundle(bundleOf(`flow_any_${count}`, parts));
          if (!verdict.ok) return;
          accepted += 1;
          await carry(verdict.bundle);
        }),
        { numRuns: engine === 'sqlite' ? 60 : 40 },
      );
      expect(accepted).toBeGreaterThan(count / 3);
    });

    it.each([
      ['NUL', '\u0000'],
      ['half a character', '\ud83d'],
      ['the end of a block', '\n```\n\n```json\n{"flow":{},"steps":[]}\n```\n'],
      ['front matter', '---\ntype: flow\nflow_id: flow_other\n---\n'],
      ['a byte order mark', '\ufeff'],
      ['characters beyond the basic plane', '👩‍👩‍👧‍👦𝔘'],
    ])('comes through with %s in every text', async (what, text) => {
      const { flow, steps } = sampleFlow(`flow_odd_${what.replaceAll(/\W/g, '_').toLowerCase()}`);
      const odd = `${text}x${text}`;
      const oddStep = { owned_job: odd, instruction: odd, trigger: odd, when_not_to_run: odd, output_shape: odd };
      await carry({
        flow: { ...flow, title: odd, summary: odd },
        steps: steps.map((step) => ({
          ...step,
          ...oddStep,
          boundaries: [text, odd],
          verification: { ...step.verification, description: odd },
        })),
      });
    });

    it('comes through with everything at its limit', async () => {
      const fill = (length: number, seed: number): string => `é${seed}${'ü'.repeat(length)}`.slice(0, length);
      const { flow, steps } = sampleFlow('flow_limits', { steps: 100, version: '0.0.1' });
      const list = <T>(count: number, make: (at: number) => T): T[] =>
        Array.from({ length: count }, (_, at) => make(at));
      const large = {
        flow: {
          ...flow,
          title: fill(200, 0),
          summary: fill(2_000, 0),
          version: `${'9'.repeat(20)}.${'8'.repeat(20)}.${'7'.repeat(22)}`,
          tags: list(32, (at) => fill(64, at)),
          inputs: list(64, (at) => ({ name: fill(64, at), type: fill(64, at), required: at % 2 === 0 })),
        },
        steps: steps.map((step, at) => ({
          ...step,
          instruction: fill(at === 0 ? 8_000 : 3_000, at),
          boundaries: at === 0 ? list(64, (n) => fill(200, n)) : step.boundaries,
          skill_refs: at === 0 ? list(64, (n) => ({ kind: 'cli' as const, id: fill(256, n) })) : [],
        })),
      };
      const verdict = validateFlowBundle(large);
      expect(verdict).toMatchObject({ ok: true });
      expect(Buffer.byteLength(JSON.stringify(large))).toBeGreaterThan(700_000);
      await carry(large);
    });
  });

  it('[S003-4-new-row] edits add rows, and no later act changes a byte of an earlier version', async () => {
    const vault = 'authors';
    const rows = async () => {
      const { queries } = review.app.services.database;
      const of = (table: 'flow_versions' | 'flow_steps') =>
        queries
          .selectFrom(table as 'flow_steps')
          .selectAll()
          .where('vault_id', '=', vault)
          .where('flow_id', '=', 'flow_kept')
          .orderBy('version')
          .execute();
      const [versions, steps] = [await of('flow_versions'), await of('flow_steps')];
      return new Map(
        versions.map((row) => [
          row.version,
          JSON.stringify([row, steps.filter(({ version }) => version === row.version)]),
        ]),
      );
    };
    const draft = (version: string, steps: number) => sampleFlow('flow_kept', { version, steps, summary: version });
    const edit = async (version: string, steps: number): Promise<string> =>
      (await review.propose({ ...draft(version, steps), ...(await baseOf(review, 'flow_kept', vault)) }, vault))
        .proposal_id;
    await review.approve((await review.propose(draft('1.0.0', 3), vault)).proposal_id, vault);
    const acts: [string[], () => Promise<unknown>][] = [
      [['1.0.0', '1.0.1'], async () => review.approve(await edit('1.0.1', 5), vault)],
      [['1.0.0', '1.0.1'], async () => review.ask('proposal.discard', { proposal_id: await edit('1.0.2', 1) }, vault)],
      [['1.0.0', '1.0.1', '2.0.0'], async () => review.approve(await edit('2.0.0', 1), vault)],
      [['1.0.0', '1.0.1', '2.0.0'], () => review.refused('flow.propose', { ...draft('1.0.1', 9), intent: 'x' }, vault)],
      [
        ['1.0.0', '1.0.1', '10.0.0', '2.0.0'],
        async () => {
          const [winner, loser] = [await edit('10.0.0', 2), await edit('3.0.0', 2)];
          await review.approve(winner, vault);
          expect(await review.refused('proposal.approve', { proposal_id: loser }, vault)).toBe('FLOW_LINEAGE_CONFLICT');
        },
      ],
      [
        ['1.0.0', '1.0.1', '10.0.0', '2.0.0'],
        async () => {
          const { proposal_id } = await review.ask<Proposed>(
            'flow.retire',
            { flow_id: 'flow_kept', intent: 'x' },
            vault,
          );
          await review.approve(proposal_id, vault);
        },
      ],
    ];
    let before = await rows();
    for (const [versions, act] of acts) {
      await act();
      const after = await rows();
      expect([...after.keys()]).toEqual(versions);
      for (const [version, text] of before) expect(after.get(version), version).toBe(text);
      before = after;
    }
    const pinned = await review.ask<FlowBundle>('flow.get', { flow_id: 'flow_kept', version: '1.0.0' }, vault);
    expect([pinned.flow.summary, pinned.steps.length]).toEqual(['1.0.0', 3]);
  });
});
