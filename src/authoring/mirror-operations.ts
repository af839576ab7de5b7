import * as z from 'zod';
import type { Database } from '../database/index.ts';
import { ambiguousScope, FlowIdSchema, type FlowLibrary, flowStateId, readVersion } from '../flows/index.ts';
import { stableStringify } from '../kernel/canonical-json.ts';
import type { Clock } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { sha256Hex } from '../kernel/hash.ts';
import { textTable } from '../kernel/terminal.ts';
import { type Context, defineOperation, freeText, plainText } from '../operations/index.ts';
import type { Policy } from '../policy/index.ts';
import type { ProposalDraft } from '../proposals/index.ts';
import { type Files, parseNote, placeOf } from '../vault/index.ts';
import { raisedVersion } from './edit-document.ts';
import { FlowProposal, proposedLine } from './flow-proposal.ts';
import { assertAuthoringOpen } from './gate.ts';
import { bundleInMirror, wordsOfMirror } from './mirror-note.ts';
import { type MirrorRow, mirrorOf } from './mirror-rows.ts';
import { listMirrors, readMirror, textFromLibrary } from './mirrors.ts';
import { visibleHead } from './precheck.ts';
import { prepareProposal } from './propose.ts';
import { recordProposal } from './record-proposal.ts';

interface Needs {
  database: Database;
  clock: Clock;
  policy: Policy;
  flows: FlowLibrary;
  files: Files;
}

const tag = 'Flows';

const Mirror = z.strictObject({
  flow_id: z.string(),
  version: z.string(),
  path: z.string(),
  state: z.enum(['in_step', 'behind', 'edited', 'missing', 'unreadable']),
});

const HINTS = [
  ['edited', 'An edited mirror changes nothing. `flowright flow mirror propose FLOW` offers it for review.'],
  ['missing', '`flowright flow mirror restore FLOW` writes a missing mirror again.'],
  ['behind', 'A mirror that is behind follows with the next approved version.'],
  ['unreadable', 'Something else lies where an unreadable mirror should be; take it away, then restore the mirror.'],
] as const;

const list = defineOperation({
  name: 'flow.mirrors',
  summary: 'List the notes that mirror flows, and whether somebody edited them',
  input: z.strictObject({ cursor: plainText(128).optional().describe('next_cursor of the page before') }),
  output: z
    .strictObject({
      schema: z.literal('flowright.flow_mirrors/v1'),
      vault_id: z.string(),
      mirrors: z.array(Mirror),
      next_cursor: z.string().nullable(),
    })
    .meta({ id: 'FlowMirrorsResponse' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/flows/mirrors', tag },
  mcp: { tool: 'flow_mirrors' },
  cli: {
    command: 'flow mirror list',
    isBadNews: ({ mirrors }) => mirrors.some(({ state }) => state !== 'in_step'),
    render: ({ mirrors }) => {
      if (mirrors.length === 0) return '(no mirrors: a flow gets one when a proposal of it is approved)';
      const table = textTable(
        ['FLOW', 'VERSION', 'MIRROR', 'NOTE'],
        mirrors.map(({ flow_id, version, state, path }) => [flow_id, version, state, path]),
      );
      const states = new Set(mirrors.map(({ state }) => state));
      const hints = HINTS.filter(([state]) => states.has(state)).map(([, hint]) => hint);
      return [table, ...hints].join('\n');
    },
  },
  errors: ['FLOW_SCOPE_AMBIGUOUS'],
  handle: async (context: Context<Needs>, { cursor = '' }) => {
    const { principal, flows } = context;
    if (principal.ambiguous) throw ambiguousScope();
    await flows.ready(principal.vault_id);
    return {
      schema: 'flowright.flow_mirrors/v1' as const,
      vault_id: principal.vault_id,
      ...(await listMirrors(context, principal, cursor)),
    };
  },
});

const propose = defineOperation({
  name: 'flow.mirror_propose',
  summary: 'Offer a hand-edited mirror for review',
  description:
    'Takes the bundle in the edited note as an edit of the version it mirrors. A version that was not raised is raised by one patch.',
  input: z.strictObject({
    flow_id: FlowIdSchema,
    intent: freeText(8_000).default('Edited in the mirror note').describe('Why'),
  }),
  output: FlowProposal,
  access: { can: 'read' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/flows/{id}/mirror/proposals', rename: { id: 'flow_id' }, status: 201, tag },
  mcp: { tool: 'flow_mirror_propose' },
  cli: {
    command: 'flow mirror propose <flow_id>',
    examples: ['flowright flow mirror propose flow_capture_to_note --intent "Clearer step 2"'],
    render: (payload) => proposedLine(payload),
  },
  errors: [
    'FLOW_AUTHORING_DISABLED',
    'FLOW_AUTHORING_POLICY_FORBIDDEN',
    'FLOW_SCOPE_AMBIGUOUS',
    'FLOW_SCOPE_DENIED',
    'FLOW_DRAFT_INVALID',
    'FLOW_LINEAGE_CONFLICT',
    'unknown_flow',
    'CONFLICT',
  ],
  audit: (_input, { proposal_id, flow_id }) => ({ proposal_id, flow_id }),
  prepare: async (context: Context<Needs>, { flow_id, intent }): Promise<ProposalDraft> => {
    assertAuthoringOpen(context.policy.values());
    const { principal, database, flows } = context;
    await flows.get(principal, { flow_id });
    const mirror = await readMirror(context, principal.vault_id, flow_id);
    if (!mirror)
      throw refusal('CONFLICT', `${flow_id} has no mirror yet; it gets one when a proposal of it is approved.`);
    if (mirror.state !== 'edited' || mirror.text === null) {
      throw refusal('CONFLICT', `The mirror of ${flow_id} is not edited; there is nothing to propose.`);
    }
    const base = await readVersion(database.queries, principal.vault_id, flow_id, mirror.row.version);
    if (!base) throw new Error('a mirror without its version');
    const candidate = bundleInMirror(parseNote(mirror.text).body);
    if (stableStringify(candidate) === stableStringify(base)) {
      throw refusal(
        'CONFLICT',
        `Only the words above the JSON block were changed, and they say nothing to the library. Change the block, or use \`flowright flow edit ${flow_id}\`.`,
      );
    }
    const state = flowStateId(base.flow, base.steps);
    const draft = await prepareProposal(context, {
      ...raised(candidate, mirror.row.version),
      intent,
      base_version: mirror.row.version,
      base_state_id: state,
    });
    // The approval knows this edit for what it approved and does not keep it aside; unless its words were changed too.
    const written = await textFromLibrary(database.queries, mirror.row);
    if (written === null || wordsOfMirror(written) !== wordsOfMirror(mirror.text)) return draft;
    return { ...draft, frontmatter: { ...draft.frontmatter, mirror_sha256: sha256Hex(mirror.text) } };
  },
  handle: recordProposal,
});

/** Whoever edits a note thinks of the words; the version moves by itself where it was left alone. */
function raised(candidate: unknown, base: string): { flow: unknown; steps: unknown } {
  const { flow, steps } = (candidate ?? {}) as { flow?: Record<string, unknown>; steps?: unknown };
  return { flow: flow && { ...flow, version: raisedVersion(flow.version, base) }, steps };
}

const restore = defineOperation({
  name: 'flow.mirror_restore',
  summary: 'Write a mirror anew from the library',
  description: 'For a mirror that was edited or removed. An edited one is kept beside it under another name.',
  input: z.strictObject({ flow_id: FlowIdSchema }),
  output: z
    .strictObject({
      schema: z.literal('flowright.flow_mirror/v1'),
      flow_id: z.string(),
      path: z.string(),
      written: z.boolean(),
      kept_aside: z.string().nullable().describe('Where the edited note lies now'),
    })
    .meta({ id: 'FlowMirrorResponse' }),
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/flows/{id}/mirror/restore', rename: { id: 'flow_id' }, tag },
  cli: {
    command: 'flow mirror restore <flow_id>',
    render: ({ path, written, kept_aside }) =>
      `${path} ${written ? 'is as the library has it' : 'could not be written'}${kept_aside ? `; the edited note is kept as ${kept_aside}` : ''}`,
  },
  errors: ['FLOW_SCOPE_AMBIGUOUS', 'FLOW_SCOPE_DENIED', 'unknown_flow', 'CONFLICT'],
  audit: ({ flow_id }) => ({ flow_id }),
  prepare: async (context: Context<Needs>, { flow_id }): Promise<MirrorRow> => {
    const { principal, database, flows } = context;
    await flows.get(principal, { flow_id });
    await visibleHead({ queries: database.queries, principal, flowId: flow_id });
    const row = await mirrorOf(database.queries, principal.vault_id, flow_id);
    if (!row) throw refusal('CONFLICT', `${flow_id} has no mirror yet; it gets one when a proposal of it is approved.`);
    return row;
  },
  handle: async ({ trx, files }, row) => {
    const text = await textFromLibrary(trx, row);
    if (text === null) throw new Error('a mirror that no proposal made');
    const before_sha256 = row.text_sha256;
    await files.plan(trx, { place: placeOf(row.vault_id), path: row.path, text, flow_id: row.flow_id, before_sha256 });
    const { flow_id, path } = row;
    return { schema: 'flowright.flow_mirror/v1' as const, flow_id, path, written: false, kept_aside: null };
  },
  finish: async ({ files, principal }, payload) => {
    const { kept_aside, failed } = await files.settle(placeOf(principal.vault_id));
    return {
      ...payload,
      written: !failed.some(({ path }) => path === payload.path),
      kept_aside: kept_aside.find(({ path }) => path === payload.path)?.moved_to ?? null,
    };
  },
});

export const mirrorOperations = [list, propose, restore];
