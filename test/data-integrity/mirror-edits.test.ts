import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FlowBundle } from '../../src/flows/index.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { addFlows, VAULT } from './library.ts';
import { baseOf, openReview, type Proposed, type Review, withoutStarters } from './review.ts';
import { filesIn, writeByHand } from './vault-files.ts';

interface Mirror {
  flow_id: string;
  version: string;
  path: string;
  state: string;
}

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let review: Review;
  let root: string;
  let count = 0;

  beforeAll(async () => {
    store = await makeStore();
    review = await openReview(store);
    await withoutStarters(review, VAULT);
    root = join(store.home, 'vaults', VAULT);
  });
  afterAll(async () => {
    await review?.close();
    await store?.remove();
  });

  /** A flow of its own for each test, approved in 1.0.0, with its mirror on disk. */
  const mirrored = async (path: string | null = null) => {
    count += 1;
    const flowId = `flow_mirrored_${count}`;
    const draft = (version: string, changes: object = {}): FlowBundle => {
      const { flow, steps } = sampleFlow(flowId, { version, instruction: `As of ${version}.` });
      return { flow: { ...flow, vault_mirror_path: path, ...changes }, steps };
    };
    const propose = async (version: string, changes?: object): Promise<Proposed> =>
      review.propose({ ...draft(version, changes), ...(await baseOf(review, flowId)) });
    const { proposal_id } = await review.propose(draft('1.0.0'));
    const { mirror_path } = await review.approve(proposal_id);
    const mirror = mirror_path as string;
    return {
      flowId,
      mirror,
      file: join(root, mirror),
      text: readFileSync(join(root, mirror), 'utf8'),
      propose,
      approveNext: async (version: string, changes?: object) =>
        review.approve((await propose(version, changes)).proposal_id),
      stem: mirror.slice(0, -'.md'.length),
    };
  };

  const mirrorsOf = async (flowId: string): Promise<Mirror[]> => {
    const { mirrors } = await review.ask<{ mirrors: Mirror[] }>('flow.mirrors', {});
    return mirrors.filter(({ flow_id }) => flow_id === flowId);
  };
  const stateOf = async (flowId: string): Promise<string | undefined> => (await mirrorsOf(flowId))[0]?.state;
  const answers = async (flowId: string): Promise<string> =>
    JSON.stringify([
      await review.ask('flow.get', { flow_id: flowId }),
      await review.ask('flow.list', {}),
      await review.ask('flow.versions', { flow_id: flowId }),
      await review.ask('flow.search', { query: 'quicksilver' }),
    ]);
  const keptAside = (stem: string): string[] =>
    Object.entries(filesIn(root)).flatMap(([path, text]) => (path.startsWith(`${stem}.edited-`) ? text : []));
  const pending = async () =>
    (await review.app.services.database.queries.selectFrom('file_writes').select('path').execute()).map(
      ({ path }) => path,
    );

  describe('[FLR-mirror] a mirror that somebody edited', () => {
    const edited = (text: string): string => text.replaceAll('"As of 1.0.0."', '"With quicksilver."');

    it('is found out, and changes no answer, for a program that starts anew either', async () => {
      const { flowId, file, text } = await mirrored();
      expect(await stateOf(flowId)).toBe('in_step');
      const before = await answers(flowId);
      writeFileSync(file, edited(text));
      expect(await stateOf(flowId)).toBe('edited');
      expect(await answers(flowId)).toBe(before);
      await review.close();
      review = await openReview(store);
      expect([await answers(flowId), await stateOf(flowId)]).toEqual([before, 'edited']);
      expect(readFileSync(file, 'utf8')).toBe(edited(text));
    });

    it('is offered as a proposal, and its text is the mirror once that is approved', async () => {
      const { flowId, file, text, stem } = await mirrored();
      writeFileSync(file, edited(text));
      const before = await answers(flowId);
      const offer = await review.ask<Proposed>('flow.mirror_propose', { flow_id: flowId, intent: 'Better words' });
      expect(offer).toMatchObject({ flow_id: flowId, base_version: '1.0.0', status: 'proposed' });
      expect(await answers(flowId), 'proposing changes nothing').toBe(before);
      await review.approve(offer.proposal_id);
      const { flow, steps } = await review.ask<FlowBundle>('flow.get', { flow_id: flowId });
      expect([flow.version, steps[0]?.instruction]).toEqual(['1.0.1', 'With quicksilver.']);
      expect(await mirrorsOf(flowId)).toMatchObject([{ version: '1.0.1', state: 'in_step' }]);
      expect(keptAside(stem), 'what was taken over is not kept twice').toEqual([]);
    });

    it('is kept aside, byte for byte, when it was edited again after it was offered', async () => {
      const { flowId, file, text, stem } = await mirrored();
      writeFileSync(file, edited(text));
      const offer = await review.ask<Proposed>('flow.mirror_propose', { flow_id: flowId });
      writeFileSync(file, 'And again.');
      await review.approve(offer.proposal_id);
      expect([await stateOf(flowId), keptAside(stem)]).toEqual(['in_step', ['And again.']]);
    });

    it.each<[string, (text: string, words: string) => string]>([
      ['above the bundle', (text, words) => text.replace('\n# ', `\n${words}\n\n# `)],
      ['below the bundle', (text, words) => `${text}\n${words}\n`],
      ['in its front block', (text, words) => text.replace('---\n', `---\nremark: ${words}\n`)],
    ])('never loses words that were written %s', async (where, write) => {
      const words = `A remark that somebody wrote ${where}.`;
      for (const change of [edited, (text: string) => text]) {
        const { flowId, file, text } = await mirrored();
        writeFileSync(file, write(change(text), words));
        expect(await stateOf(flowId)).toBe('edited');
        const offer = await review.ask<Proposed>('flow.mirror_propose', { flow_id: flowId }).catch(() => null);
        if (offer) await review.approve(offer.proposal_id);
        const holders = Object.values(filesIn(root)).filter((found) => found.includes(words));
        expect(holders, 'in the mirror still, or kept aside').toHaveLength(1);
        rmSync(join(root, 'meta'), { recursive: true });
      }
    });

    it.each([
      ['the bundle is gone', () => 'Only words.'],
      ['the bundle is no JSON', (text: string) => text.replace('```json\n{', '```json\n{{')],
      ['it is another flow', (text: string) => text.replaceAll(/"flow_mirrored_\d+/g, '"flow_other')],
      ['a step lost its trigger', (text: string) => text.replaceAll(/^.*"trigger".*\n/gm, '')],
    ])('cannot be offered when %s', async (_what, change) => {
      const { flowId, file, text } = await mirrored();
      writeFileSync(file, change(text));
      const before = await answers(flowId);
      expect(await review.refused('flow.mirror_propose', { flow_id: flowId })).toMatch(
        /^(FLOW_DRAFT_INVALID|unknown_flow)$/,
      );
      expect([await answers(flowId), readFileSync(file, 'utf8')]).toEqual([before, change(text)]);
    });

    it('is kept aside when another version is approved', async () => {
      const { flowId, file, stem, approveNext } = await mirrored();
      const bytes = 'Mine, with é, 👍 and\r\n\ttabs\n\n';
      writeFileSync(file, bytes);
      expect(await approveNext('1.1.0')).toMatchObject({ mirror_written: true });
      expect(await mirrorsOf(flowId)).toMatchObject([{ version: '1.1.0', state: 'in_step' }]);
      expect(keptAside(stem)).toEqual([bytes]);
    });

    it('is put back on request, and the edit kept aside', async () => {
      const { flowId, file, text, stem } = await mirrored();
      writeFileSync(file, 'Mine.');
      const answer = await review.ask<{ kept_aside: string }>('flow.mirror_restore', { flow_id: flowId });
      expect(answer).toMatchObject({ written: true, kept_aside: expect.stringContaining(`${stem}.edited-`) });
      expect(readFileSync(join(root, answer.kept_aside), 'utf8')).toBe('Mine.');
      expect([readFileSync(file, 'utf8'), await stateOf(flowId)]).toEqual([text, 'in_step']);
      expect(await review.ask('flow.mirror_restore', { flow_id: flowId })).toMatchObject({ kept_aside: null });
      expect(keptAside(stem)).toEqual(['Mine.']);
    });

    it('is kept aside when the flow is retired, and its own place is empty', async () => {
      const { flowId, file, mirror, stem } = await mirrored();
      writeFileSync(file, 'Mine.');
      const { proposal_id } = await review.ask<Proposed>('flow.retire', { flow_id: flowId, intent: 'Enough.' });
      expect(await review.approve(proposal_id)).toMatchObject({ mirror_path: null });
      expect([filesIn(root)[mirror], keptAside(stem), await mirrorsOf(flowId)]).toEqual([undefined, ['Mine.'], []]);
    });
  });

  it('[FLR-mirror] a mirror that was removed is missed, cannot be offered, and can be put back', async () => {
    const { flowId, file, text } = await mirrored();
    rmSync(file);
    expect(await stateOf(flowId)).toBe('missing');
    expect(await review.refused('flow.mirror_propose', { flow_id: flowId })).toBe('CONFLICT');
    expect(await review.ask('flow.mirror_restore', { flow_id: flowId })).toMatchObject({ written: true });
    expect([readFileSync(file, 'utf8'), await stateOf(flowId)]).toEqual([text, 'in_step']);
  });

  describe.each<[string, (file: string) => void]>([
    ['a folder', (file) => mkdirSync(file)],
    ['a link to another note', (file) => symlinkSync(join(file, '..', 'target.md'), file)],
    ['a link that leads nowhere', (file) => symlinkSync('/nonexistent/flowright', file)],
    ['a file of five megabytes', (file) => writeFileSync(file, 'x'.repeat(5_000_000))],
    ['bytes that are no text', (file) => writeFileSync(file, Buffer.from([0xff, 0xfe, 0x80, 0x00]))],
  ])('[FLR-mirror] %s in the place of a mirror', (what, replace) => {
    const scene = async () => {
      const flow = await mirrored();
      writeByHand(root, 'meta/flows/target.md', 'Not yours.');
      rmSync(flow.file);
      replace(flow.file);
      return flow;
    };
    const clear = (file: string) => rmSync(file, { recursive: true, force: true });

    it('is found out, and does not hide the others', async () => {
      const other = await mirrored();
      const { flowId, file } = await scene();
      try {
        expect(await stateOf(flowId)).toMatch(/^(edited|missing|unreadable)$/);
        expect(await stateOf(other.flowId)).toBe('in_step');
      } finally {
        clear(file);
      }
    });

    it('is never taken for a wish, nor followed', async () => {
      const { flowId, file } = await scene();
      try {
        const before = JSON.stringify(await review.ask('flow.get', { flow_id: flowId }));
        expect(await review.refused('flow.mirror_propose', { flow_id: flowId })).toMatch(
          /^(CONFLICT|NOTE_UNREADABLE|FLOW_DRAFT_INVALID)$/,
        );
        expect(JSON.stringify(await review.ask('flow.get', { flow_id: flowId }))).toBe(before);
      } finally {
        clear(file);
      }
    });

    it('does not keep a version from being approved; the mirror follows when the way is clear', async () => {
      const { flowId, file, mirror, approveNext } = await scene();
      try {
        const approved = await approveNext('1.1.0');
        expect(approved.status).toBe('approved');
        expect(readFileSync(join(root, 'meta/flows/target.md'), 'utf8')).toBe('Not yours.');
        if (!approved.mirror_written) expect(await pending()).toEqual([mirror]);
        expect(approved.mirror_written, what).toBe(!/folder|link/.test(what));
      } finally {
        if (/folder|link/.test(what)) clear(file);
      }
      await review.close();
      review = await openReview(store);
      expect(await mirrorsOf(flowId)).toMatchObject([{ version: '1.1.0', state: 'in_step' }]);
      expect(await pending()).toEqual([]);
    });
  });

  describe('[FLR-mirror] another mirror path', () => {
    it('moves the mirror', async () => {
      const { flowId, mirror, approveNext } = await mirrored();
      const path = `meta/flows/moved-${count}.md`;
      expect(await approveNext('1.1.0', { vault_mirror_path: path })).toMatchObject({ mirror_path: path });
      expect(filesIn(root)[mirror]).toBeUndefined();
      expect(await mirrorsOf(flowId)).toMatchObject([{ version: '1.1.0', path, state: 'in_step' }]);
      await approveNext('1.2.0', { vault_mirror_path: null });
      expect(filesIn(root)[path]).toBeUndefined();
      expect(await mirrorsOf(flowId)).toMatchObject([{ version: '1.2.0', path: mirror, state: 'in_step' }]);
    });

    it('leaves an edit of the old mirror beside its place, and a file at the new one under another name', async () => {
      const { flowId, file, mirror, stem, approveNext } = await mirrored();
      const moved = `meta/flows/taken-${count}`;
      writeFileSync(file, 'Mine.');
      writeByHand(root, `${moved}.md`, 'Was here first.');
      await approveNext('1.1.0', { vault_mirror_path: `${moved}.md` });
      expect([filesIn(root)[mirror], keptAside(stem), keptAside(moved)]).toEqual([
        undefined,
        ['Mine.'],
        ['Was here first.'],
      ]);
      expect(await stateOf(flowId)).toBe('in_step');
    });

    it('that belongs to another flow is refused when it is proposed', async () => {
      const [owner, wisher] = [await mirrored(), await mirrored()];
      const draft = { ...sampleFlow(wisher.flowId, { version: '1.1.0' }), ...(await baseOf(review, wisher.flowId)) };
      const wish = { ...draft, flow: { ...draft.flow, vault_mirror_path: owner.mirror }, intent: 'x' };
      expect(await review.refused('flow.propose', wish)).toBe('FLOW_DRAFT_INVALID');
      expect([await stateOf(owner.flowId), await stateOf(wisher.flowId)]).toEqual(['in_step', 'in_step']);
    });

    it('that two proposals ask for goes to the first; the second changes nothing', async () => {
      const path = `meta/flows/both-${count}.md`;
      const [one, two] = [await mirrored(), await mirrored()];
      const [first, second] = [
        await one.propose('1.1.0', { vault_mirror_path: path }),
        await two.propose('1.1.0', { vault_mirror_path: path }),
      ];
      await review.approve(first.proposal_id);
      const before = [await answers(two.flowId), filesIn(root)];
      expect(await review.refused('proposal.approve', { proposal_id: second.proposal_id })).toBe('CONFLICT');
      expect([await answers(two.flowId), filesIn(root)]).toEqual(before);
      expect(await mirrorsOf(one.flowId)).toMatchObject([{ path, state: 'in_step' }]);
    });

    it('of a retired flow is free again', async () => {
      const [old, next] = [await mirrored(), await mirrored()];
      const { proposal_id } = await review.ask<Proposed>('flow.retire', { flow_id: old.flowId, intent: 'Enough.' });
      await review.approve(proposal_id);
      await next.approveNext('1.1.0', { vault_mirror_path: old.mirror });
      expect(await mirrorsOf(next.flowId)).toMatchObject([{ path: old.mirror, state: 'in_step' }]);
    });
  });

  it('[FLR-mirror] a version that the operator imported is not edited through the mirror of the one before', async () => {
    const { flowId, file, text } = await mirrored();
    await addFlows(review.app.services.database, [sampleFlow(flowId, { version: '3.0.0', title: 'Imported' })]);
    expect(await stateOf(flowId)).toBe('behind');
    writeFileSync(file, text.replaceAll('As of 1.0.0.', 'Old wish.'));
    expect(await review.refused('flow.mirror_propose', { flow_id: flowId })).toBe('FLOW_LINEAGE_CONFLICT');
    expect((await review.ask<FlowBundle>('flow.get', { flow_id: flowId })).flow.title).toBe('Imported');
  });
});
