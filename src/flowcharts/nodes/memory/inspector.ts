import { FAILURE_FIELDS } from '../failure-fields.ts';
import type { InspectorField } from '../node-type.ts';
import { RETENTION_FIELDS } from '../retention-fields.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from './config.ts';

export const MEMORY_INSPECTOR: readonly InspectorField[] = [
  {
    key: 'action',
    label: 'Action',
    control: 'choice',
    required: true,
    options: ['add', 'retrieve'],
    default: 'add',
    help: 'Write to a memory, or look memories up.',
  },
  {
    key: 'mode',
    label: 'Mode',
    control: 'choice',
    required: true,
    options: ['llm_guided', 'deterministic'],
    default: 'llm_guided',
    help: 'Let a model decide what to keep or look for, or take text and query as they are.',
  },
  {
    key: 'store_mode',
    label: 'Store mode',
    control: 'choice',
    options: ['append', 'replace'],
    default: 'replace',
    help: 'Add to what the memory holds, or put the new text in its place.',
  },
  {
    key: 'additive_prompt',
    label: 'Additive prompt',
    control: 'prompt',
    default: '',
    help: 'What matters here. Left empty, it is inferred from what reaches the node.',
  },
  { key: 'text', label: 'Text', control: 'text', help: 'Add: what to keep when no model is asked.' },
  {
    key: 'text_source_path',
    label: 'Text from',
    control: 'text',
    help: 'Add: dot path into the input, such as latest_upstream.output_state.answer.',
  },
  { key: 'query', label: 'Query', control: 'text', help: 'Retrieve: words to look for when no model is asked.' },
  { key: 'query_source_path', label: 'Query from', control: 'text', help: 'Retrieve: dot path into the input.' },
  {
    key: 'limit',
    label: 'Limit',
    control: 'number',
    default: DEFAULT_LIMIT,
    minimum: 1,
    maximum: MAX_LIMIT,
    help: 'Retrieve: how many memories at most.',
  },
  {
    key: 'require_result',
    label: 'Require a result',
    control: 'switch',
    default: false,
    help: 'Retrieve: fail when nothing is found, rather than go on with a warning.',
  },
  ...FAILURE_FIELDS,
  ...RETENTION_FIELDS,
  { key: 'route_key', label: 'Route key', control: 'text', help: 'Handed on with the result, for connectors.' },
];
