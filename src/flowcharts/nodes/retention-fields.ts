import { DEFAULT_RETENTION, RETENTION_MODES } from './common-config.ts';
import type { InspectorField } from './node-type.ts';

/** How long artifacts are kept; the same controls wherever they are shown. */
export const RETENTION_FIELDS: readonly InspectorField[] = [
  {
    key: 'retention_mode',
    label: 'Artifact retention',
    control: 'choice',
    options: RETENTION_MODES,
    default: DEFAULT_RETENTION.retention_mode,
  },
  {
    key: 'retention_ttl_seconds',
    label: 'Keep for seconds',
    control: 'number',
    default: DEFAULT_RETENTION.retention_ttl_seconds,
    minimum: 1,
  },
  {
    key: 'retention_max_count',
    label: 'Keep at most',
    control: 'number',
    default: DEFAULT_RETENTION.retention_max_count,
    minimum: 1,
  },
];
