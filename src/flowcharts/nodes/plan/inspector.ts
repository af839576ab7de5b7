import { STORE_MODES } from '../../../plans/index.ts';
import { FAILURE_FIELDS } from '../failure-fields.ts';
import type { InspectorField } from '../node-type.ts';
import { RETENTION_FIELDS } from '../retention-fields.ts';

export const PLAN_INSPECTOR: readonly InspectorField[] = [
  {
    key: 'store_mode',
    label: 'Store mode',
    control: 'choice',
    required: true,
    options: STORE_MODES,
    default: 'append',
    help: 'Add stages and tasks, write all of them anew, or change those there are.',
  },
  {
    key: 'mode',
    label: 'Mode',
    control: 'choice',
    required: true,
    options: ['llm_guided', 'deterministic'],
    default: 'deterministic',
    help: 'Let a model write the patch, or take the one below.',
  },
  {
    key: 'additive_prompt',
    label: 'Additive prompt',
    control: 'prompt',
    default: '',
    help: 'What the model should do with the plan.',
  },
  {
    key: 'patch',
    label: 'Patch',
    control: 'json',
    help: 'name, description, completed, stages, tasks; applied without a model.',
  },
  {
    key: 'patch_source_path',
    label: 'Patch from',
    control: 'text',
    help: 'Dot path into the input, such as latest_upstream.output_state.structured_output.',
  },
  {
    key: 'transform_with_llm',
    label: 'Transform with a model',
    control: 'switch',
    default: false,
    help: 'After the patches, let a model add one of its own or sum them up.',
  },
  { key: 'transform_prompt', label: 'Transform prompt', control: 'prompt', help: 'What that model is asked.' },
  ...FAILURE_FIELDS,
  ...RETENTION_FIELDS,
  { key: 'route_key', label: 'Route key', control: 'text', help: 'Handed on with the result, for connectors.' },
  {
    key: 'route_key_on_complete',
    label: 'Route key when complete',
    control: 'text',
    help: 'Instead of the route key once the plan is completed.',
  },
];
