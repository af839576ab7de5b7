import type { InspectorField } from '../node-type.ts';
import { RETENTION_FIELDS } from '../retention-fields.ts';

export const MILESTONE_INSPECTOR: readonly InspectorField[] = [
  {
    key: 'action',
    label: 'Action',
    control: 'choice',
    required: true,
    options: ['create_or_update', 'mark_complete'],
    default: 'create_or_update',
    help: 'Change the milestone, or mark it complete.',
  },
  {
    key: 'additive_prompt',
    label: 'Additive prompt',
    control: 'prompt',
    default: '',
    help: 'Becomes the latest update of the milestone.',
  },
  {
    key: 'patch',
    label: 'Patch',
    control: 'json',
    help: 'name, description, status, priority, owner, progress_percent, health, latest_update, dates.',
  },
  {
    key: 'completion_source_path',
    label: 'Update from',
    control: 'text',
    help: 'Dot path into the input, to an object with status, progress_percent, completed and the like.',
  },
  { key: 'mark_complete', label: 'Also mark complete', control: 'switch', default: false },
  { key: 'terminate_on_complete', label: 'End the run when complete', control: 'switch', default: false },
  {
    key: 'loop_checkpoint_every',
    label: 'Checkpoint every',
    control: 'number',
    default: 0,
    minimum: 0,
    help: 'Every so many executions within a run; 0 for never.',
  },
  { key: 'terminate_on_checkpoint', label: 'End the run at a checkpoint', control: 'switch', default: false },
  {
    key: 'loop_exit_after_runs',
    label: 'End the run after',
    control: 'number',
    default: 0,
    minimum: 0,
    help: 'So many executions within a run; 0 for never.',
  },
  { key: 'terminate_always', label: 'Always end the run', control: 'switch', default: false },
  ...RETENTION_FIELDS,
  { key: 'route_key', label: 'Route key', control: 'text', help: 'Handed on with the result, for connectors.' },
  {
    key: 'route_key_on_terminate',
    label: 'Route key when the run ends',
    control: 'text',
    help: 'Instead of the route key when this node ends the run.',
  },
];
