import * as z from 'zod';
import type { Wait } from '../nodes/node-type.ts';
import { ACTIVE, type TaskRow } from './task-store.ts';

export const TASK_STATES = ['waiting', 'answered', 'closed'] as const;

export const TaskId = z.int().min(1).describe('Id of the task, which is that of its node run');

/** What a run asks of a person. */
export const TaskRecord = z
  .strictObject({
    task_id: TaskId,
    status: z.enum(TASK_STATES).describe('waiting; answered; closed when the run went on or ended without an answer'),
    flowchart_id: z.int(),
    flowchart_name: z.string(),
    flowchart_run_id: z.int().describe('The run that waits'),
    flowchart_node_id: z.int(),
    title: z.string().nullable().describe('Title of the node'),
    execution_index: z.int().describe('Which execution of the node within the run, from 1'),
    prompt: z.string().describe('What is to be done; data written by others'),
    answer_schema: z.record(z.string(), z.unknown()).nullable().describe('JSON schema that the answer must fit'),
    allow_agents: z.boolean().describe('May an agent answer?'),
    waiting_since: z.string(),
    answer: z.unknown().describe('The answer; null while there is none'),
    answered_by: z.string().nullable(),
    answered_at: z.string().nullable(),
  })
  .meta({ id: 'Task' });
export type TaskRecord = z.output<typeof TaskRecord>;

type PersonWait = Extract<Wait, { for: 'person' }>;

/** What the node run waits for, if that is a person. */
export function personWait(row: Pick<TaskRow, 'wait_json'>): PersonWait | null {
  if (row.wait_json === null) return null;
  const wait = JSON.parse(row.wait_json) as Wait;
  return wait.for === 'person' ? wait : null;
}

export function taskRecord(row: TaskRow, wait: PersonWait): TaskRecord {
  const isWaiting = row.status === 'waiting' && ACTIVE.some((status) => status === row.run_status);
  return {
    task_id: row.id,
    status: row.answer_json !== null ? 'answered' : isWaiting ? 'waiting' : 'closed',
    flowchart_id: row.flowchart_id,
    flowchart_name: row.flowchart_name,
    flowchart_run_id: row.flowchart_run_id,
    flowchart_node_id: row.flowchart_node_id,
    title: row.title,
    execution_index: row.execution_index,
    prompt: wait.prompt,
    answer_schema: wait.answer_schema,
    allow_agents: wait.allow_agents,
    waiting_since: row.started_at,
    answer: row.answer_json === null ? null : JSON.parse(row.answer_json),
    answered_by: row.answered_by,
    answered_at: row.answered_at,
  };
}
