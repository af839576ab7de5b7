import * as z from 'zod';
import { freeText, plainText } from '../operations/index.ts';
import { MAX_DESCRIPTION, MAX_NAME, MAX_POSITION, MAX_STAGES, MAX_TASKS } from './plan-tree.ts';

const Id = z.int().positive();
export const PlanId = Id.describe('Id of the plan');
export const StageId = Id.describe('Id of the stage');
export const TaskId = Id.describe('Id of the task');

export const Name = plainText(MAX_NAME).regex(/\S/, 'must not be blank').describe('What it is called, in one line');
export const Description = freeText(MAX_DESCRIPTION).nullable().describe('More about it; empty or null for none');
const Position = z.int().min(1).max(MAX_POSITION).describe('Its place among the others, from 1');

/** A stage or task that is to be made. */
export const newRow = {
  name: Name,
  description: Description.optional(),
  position: Position.optional().describe('Its place among the others, from 1; the last one when left out'),
  completed: z.boolean().optional().describe('Is it done already?'),
};

/** What may change about one that is there. */
export const rowChange = {
  name: Name.optional(),
  description: Description.optional(),
  position: Position.optional().describe('A new place; whoever stands there moves on'),
  completed: z.boolean().optional().describe('true: done now; false: open again'),
};

export const NewStages = z
  .array(
    z.strictObject({
      ...newRow,
      tasks: z.array(z.strictObject(newRow)).max(MAX_TASKS).optional().describe('Its tasks, in their order'),
    }),
  )
  .max(MAX_STAGES);

export const isChange = (fields: Record<string, unknown>) => Object.values(fields).some((value) => value !== undefined);
