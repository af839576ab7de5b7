import * as z from 'zod';
import { nodeUsing } from '../database/index.ts';
import { isoNow } from '../kernel/clock.ts';
import { badRequest, refusal } from '../kernel/errors.ts';
import { type Context, defineOperation, freeText, plainText, traceOf } from '../operations/index.ts';
import { MilestoneDeletedResponse, MilestoneResponse } from './answers.ts';
import {
  changeMilestone,
  MAX_LINE,
  MAX_TEXT,
  MILESTONE_HEALTHS,
  MILESTONE_PRIORITIES,
  MILESTONE_STATUSES,
  type MilestoneFields,
  NEW_MILESTONE,
  readChange,
} from './milestone.ts';
import { MilestoneId, type MilestoneNeeds, tag, unknownMilestone } from './read-operations.ts';
import { milestoneCard } from './render.ts';
import { createMilestone, deleteMilestone, lockMilestone, saveMilestone } from './store.ts';

const MAX_DATE = 40;
const text = () => freeText(MAX_TEXT).nullable().optional();
const date = () => plainText(MAX_DATE).nullable().optional();
const Name = plainText(MAX_LINE).regex(/\S/, 'must not be blank').describe('What it is called, in one line');

const fields = {
  description: text().describe('More about it; empty or null for none'),
  status: z.enum(MILESTONE_STATUSES).optional().describe('done also means completed and 100 percent'),
  priority: z.enum(MILESTONE_PRIORITIES).optional().describe('How much it matters'),
  owner: plainText(MAX_LINE).nullable().optional().describe('Who looks after it; empty or null for nobody'),
  completed: z.boolean().optional().describe('true: done; false: open again'),
  start_date: date().describe('A day such as 2026-03-31, or a time with its zone; empty or null for none'),
  due_date: date().describe('Not before start_date; empty or null for none'),
  progress_percent: z.int().min(0).max(100).optional().describe('How far it is'),
  health: z.enum(MILESTONE_HEALTHS).optional().describe('How it looks'),
  success_criteria: text().describe('How one can tell that it is reached; empty or null for none'),
  dependencies: text().describe('What it waits for; empty or null for none'),
  links: text().describe('Where to read more; empty or null for none'),
  latest_update: text().describe('What there is to say about it now; empty or null for none'),
};

/** The milestone after what was asked for, or a refusal that names every place. */
function changed<T extends MilestoneFields>(before: T, wanted: Record<string, unknown>): T {
  const { change, issues } = readChange(wanted);
  const { after, issues: contradictions } = changeMilestone(before, change);
  const all = [...issues, ...contradictions];
  if (all.length > 0) throw badRequest(all, 'The milestone');
  return after;
}

const create = defineOperation({
  name: 'milestone.create',
  summary: 'Make a milestone',
  input: z.strictObject({ name: Name, ...fields }),
  output: MilestoneResponse,
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/milestones', status: 201, tag },
  mcp: { tool: 'milestone_create' },
  cli: {
    command: 'milestone create',
    examples: ['flowright milestone create --name "Public beta" --due-date 2026-03-31 --priority high'],
    render: ({ item }) => milestoneCard(item),
  },
  audit: (_input, { milestone_id }) => ({ milestone_id }),
  handle: async (context: Context<MilestoneNeeds>, { name, ...wanted }) => {
    const { trx, database, clock, principal } = context;
    const made = changed({ ...NEW_MILESTONE, name: name.trim() }, wanted);
    const milestone = { vault_id: principal.vault_id, fields: made, now: isoNow(clock) };
    const item = await createMilestone(trx, database.dialect, milestone);
    return { ok: true as const, milestone_id: item.id, item, ...traceOf(context) };
  },
});

const update = defineOperation({
  name: 'milestone.update',
  summary: 'Change a milestone',
  description:
    'Changes what is given and leaves the rest. The status done, completed and 100 percent go together; another status opens it again.',
  input: z
    .strictObject({ milestone_id: MilestoneId, name: Name.optional(), ...fields })
    .refine(({ milestone_id: _, ...wanted }) => Object.values(wanted).some((value) => value !== undefined), {
      message: 'give what is to change',
      path: ['status'],
    }),
  output: MilestoneResponse,
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'PATCH', path: '/api/v1/milestones/{milestone_id}', tag },
  mcp: { tool: 'milestone_update' },
  cli: {
    command: 'milestone update <milestone_id>',
    examples: [
      'flowright milestone update 4 --progress-percent 60 --latest-update "Two of three parts work"',
      'flowright milestone update 4 --status done',
    ],
    render: ({ item }) => milestoneCard(item),
  },
  audit: ({ milestone_id }) => ({ milestone_id }),
  handle: async (context: Context<MilestoneNeeds>, { milestone_id, ...wanted }) => {
    const { trx, database, clock, principal } = context;
    const { vault_id } = principal;
    const before = await lockMilestone(trx, database.dialect, vault_id, milestone_id);
    if (!before) throw unknownMilestone(milestone_id);
    const change = { vault_id, before, after: changed(before, wanted), now: isoNow(clock) };
    const item = await saveMilestone(trx, database.dialect, change);
    return { ok: true as const, milestone_id, item, ...traceOf(context) };
  },
});

const remove = defineOperation({
  name: 'milestone.delete',
  summary: 'Delete a milestone',
  description:
    'Removes a milestone that no node works on any more. What node runs recorded about it stays with the runs.',
  input: z.strictObject({ milestone_id: MilestoneId }),
  output: MilestoneDeletedResponse,
  access: { can: 'administer' },
  effect: 'destructive',
  http: { method: 'DELETE', path: '/api/v1/milestones/{milestone_id}', tag },
  cli: {
    command: 'milestone delete <milestone_id>',
    render: ({ milestone_id }) => `Milestone ${milestone_id} is deleted.`,
  },
  errors: ['CONFLICT'],
  audit: ({ milestone_id }) => ({ milestone_id }),
  handle: async (context: Context<MilestoneNeeds>, { milestone_id }) => {
    const { trx, database, principal } = context;
    const found = await lockMilestone(trx, database.dialect, principal.vault_id, milestone_id);
    if (!found) throw unknownMilestone(milestone_id);
    const node = await nodeUsing(trx, 'milestone', milestone_id);
    if (node) {
      throw refusal(
        'CONFLICT',
        `Node ${node.flowchart_node_id} of flowchart ${node.flowchart_id} (${node.flowchart_name}) works on milestone ${milestone_id}. Remove the node first.`,
        { ...node },
      );
    }
    await deleteMilestone(trx, database.dialect, milestone_id);
    return { ok: true as const, deleted: true as const, milestone_id, ...traceOf(context) };
  },
});

export const writeOperations = [create, update, remove];
