import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { textFromLibrary } from '../../src/authoring/mirrors.ts';
import { sha256Hex } from '../../src/kernel/hash.ts';
import { sampleFlow } from '../support/flows.ts';
import { baseOf, type Place, type Review, withoutStarters } from './review.ts';
import { filesIn, writeByHand } from './vault-files.ts';

/** What is approved: a first version, a second, one that moves a mirror which somebody has edited, a retirement. */
export type Kind = 'new' | 'edit' | 'move' | 'retire';

/** A vault in which one proposal, and one that would lose by it, wait for approval. */
export interface Scene {
  kind: Kind;
  store: Place;
  vault: string;
  proposal: string;
  rival: string;
  before: ApprovalState;
}

const FLOW = 'flow_fragile';
const MIRROR = 'meta/flows/fragile.md';
const MOVED = 'meta/flows/elsewhere.md';
const BY_HAND = 'Somebody wrote here.';

const rootOf = ({ store, vault }: Pick<Scene, 'store' | 'vault'>): string => join(store.home, 'vaults', vault);

/** The notes as they lie on the disk at this moment. */
export function notesOf(scene: Pick<Scene, 'store' | 'vault'>): Record<string, string> {
  return existsSync(rootOf(scene)) ? filesIn(rootOf(scene)) : {};
}

export async function makeScene(review: Review, store: Place, vault: string, kind: Kind): Promise<Scene> {
  await withoutStarters(review, vault);
  const draft = (version: string, path: string | null) => {
    const { flow, steps } = sampleFlow(FLOW, { version, steps: 3, instruction: `As of ${version}.` });
    return { flow: { ...flow, vault_mirror_path: path }, steps };
  };
  if (kind !== 'new') await review.approve((await review.propose(draft('1.0.0', null), vault)).proposal_id, vault);
  const base = kind === 'new' ? {} : await baseOf(review, FLOW, vault);
  const { proposal_id: rival } = await review.propose({ ...draft('7.0.0', null), ...base }, vault);
  const change = { ...draft('2.0.0', kind === 'move' ? MOVED : null), ...base };
  const { proposal_id: proposal } =
    kind === 'retire'
      ? await review.ask<{ proposal_id: string }>('flow.retire', { flow_id: FLOW, intent: 'Enough.' }, vault)
      : await review.propose(change, vault);
  const scene = { kind, store, vault, proposal, rival };
  if (kind === 'move') writeByHand(rootOf(scene), MIRROR, BY_HAND);
  return { ...scene, before: await approvalState(review, scene) };
}

/** Everything that an approval may change, as a reader finds it. */
export async function approvalState({ app, ask }: Review, scene: Omit<Scene, 'before'>) {
  const { vault, proposal, rival } = scene;
  const { queries } = app.services.database;
  const statusOf = async (proposal_id: string) =>
    (await ask<{ status: string }>('proposal.get', { proposal_id }, vault)).status;
  const { mirrors } = await ask<{ mirrors: { path: string; version: string; state: string }[] }>(
    'flow.mirrors',
    {},
    vault,
  );
  const place = `vault:${vault}`;
  const events = await queries.selectFrom('events').select('type').where('stream', '=', place).execute();
  const audit = await app.services.auditLog.page(vault, { limit: 100 });
  return {
    status: await statusOf(proposal),
    rival: await statusOf(rival),
    flows: await queries.selectFrom('flows').selectAll().where('vault_id', '=', vault).execute(),
    tags: await queries.selectFrom('flow_tags').selectAll().where('vault_id', '=', vault).execute(),
    versions: await queries
      .selectFrom('flow_versions')
      .selectAll()
      .where('vault_id', '=', vault)
      .orderBy('version')
      .execute(),
    steps: await queries
      .selectFrom('flow_steps')
      .selectAll()
      .where('vault_id', '=', vault)
      .orderBy('version')
      .orderBy('ordinal')
      .execute(),
    mirrors: mirrors.map(({ path, version, state }) => `${path} ${version} ${state}`),
    files: notesOf(scene),
    pending: await queries.selectFrom('file_writes').select('path').where('place', '=', place).execute(),
    events: events.map(({ type }) => type).sort(),
    audit: audit.map(({ action, outcome }) => `${action} ${outcome}`).reverse(),
    chain: (await app.services.auditLog.verify(vault)).broken_at,
  };
}
export type ApprovalState = Awaited<ReturnType<typeof approvalState>>;

/** All of it happened: in the library, in the files, in the log, to the rival. */
export async function expectApproved({ app }: Review, scene: Scene, state: ApprovalState): Promise<void> {
  const { kind, vault, proposal, before } = scene;
  const isRetired = kind === 'retire';
  const path = kind === 'move' ? MOVED : MIRROR;
  expect([state.status, state.rival, state.pending, state.chain]).toEqual(['approved', 'conflicted', [], null]);
  const added = state.versions.filter(({ proposal_id }) => proposal_id === proposal);
  expect(added.map(({ version }) => version)).toEqual(isRetired ? [] : ['2.0.0']);
  expect(state.versions.filter((row) => !added.includes(row))).toEqual(before.versions);
  expect(state.steps.filter(({ version }) => version !== '2.0.0')).toEqual(before.steps);
  expect(state.steps).toHaveLength(before.steps.length + (isRetired ? 0 : 3));
  const heads = state.flows.map(({ version, retired_at }) => [version, retired_at !== null]);
  expect(heads).toEqual([isRetired ? ['1.0.0', true] : ['2.0.0', false]]);
  expect(state.mirrors).toEqual(isRetired ? [] : [`${path} 2.0.0 in_step`]);
  const { queries } = app.services.database;
  const row = await queries.selectFrom('flow_mirrors').selectAll().where('vault_id', '=', vault).executeTakeFirst();
  if (row) expect(state.files[path]).toBe(await textFromLibrary(queries, row));
  expect(row?.text_sha256).toBe(isRetired ? undefined : sha256Hex(state.files[path] ?? ''));
  const names = Object.keys(state.files)
    .filter((name) => name.startsWith('meta/') || before.files[name] === undefined)
    .map((name) => name.replace(/\.edited-\d{8}T\d{6}Z\./, '.edited.').replace(/\d{4}-\d\d-\d\d-/, 'DAY-'));
  const kept = kind === 'move' ? ['meta/flows/fragile.edited.md'] : [];
  const mirror = isRetired ? [] : [path];
  expect(names.sort(), 'no file too many, no draft left').toEqual(
    [`approvals/DAY-${proposal}.md`, ...mirror, ...kept].sort(),
  );
  const told = ['proposal.approved', isRetired ? 'flow.retired' : 'flow.version.added'];
  expect(state.events).toEqual([...before.events, ...told].sort());
  expect(state.audit).toEqual([...before.audit, 'proposal.approve done']);
}

/** What a reader of files met before anything was mended: whole texts, the old or the new, and every edit. */
export function expectWhole(found: Record<string, string>, { kind, before }: Scene, after: ApprovalState): void {
  for (const path of [MIRROR, MOVED]) {
    const text = found[path];
    if (text !== undefined && text !== before.files[path]) expect(text, path).toBe(after.files[path]);
  }
  if (kind === 'move') expect(Object.values(found), 'the edit, under whatever name').toContain(BY_HAND);
}
