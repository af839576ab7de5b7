import type { InspectorField } from './node-type.ts';

/** How often the primary mode is tried again, for every node that has two modes. */
export const DEFAULT_RETRY_COUNT = 1;
export const MAX_RETRY_COUNT = 5;

/** What happens when an attempt fails; the same controls wherever they are shown. */
export const FAILURE_FIELDS: readonly InspectorField[] = [
  {
    key: 'retry_count',
    label: 'Retries',
    control: 'number',
    default: DEFAULT_RETRY_COUNT,
    minimum: 0,
    maximum: MAX_RETRY_COUNT,
    help: 'Further attempts in the same mode.',
  },
  {
    key: 'fallback_enabled',
    label: 'Fallback',
    control: 'switch',
    default: true,
    help: 'When every attempt failed, try the other mode once.',
  },
];
