/** Something that Workday can do, as an agent has to know it in order to ask for it. */
export interface WorkdayAction {
  action: string;
  description: string;
  /** JSON schemas; null when nothing is said. */
  input_schema: Record<string, unknown> | null;
  output_schema: Record<string, unknown> | null;
}

const MAX_DESCRIPTION = 2_000;
export const MAX_ACTIONS = 2_000;

export function workdayAction(fields: {
  action: string;
  description: string | undefined;
  input_schema: unknown;
  output_schema: unknown;
}): WorkdayAction {
  return {
    action: fields.action,
    description: (fields.description ?? '').slice(0, MAX_DESCRIPTION),
    input_schema: asRecord(fields.input_schema),
    output_schema: asRecord(fields.output_schema),
  };
}

/** What a file holds is checked field by field; whatever is no action is not handed out. */
export function isWorkdayAction(item: unknown): item is WorkdayAction {
  const { action, description, input_schema, output_schema } = (item ?? {}) as Record<string, unknown>;
  const isSchema = (value: unknown) => value === null || asRecord(value) !== null;
  const isNamed = typeof action === 'string' && action !== '' && typeof description === 'string';
  return isNamed && isSchema(input_schema) && isSchema(output_schema);
}

export function asRecord(value: unknown): Record<string, unknown> | null {
  const isRecord = value !== null && typeof value === 'object' && !Array.isArray(value);
  return isRecord ? (value as Record<string, unknown>) : null;
}
