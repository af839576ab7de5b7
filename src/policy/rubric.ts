import * as z from 'zod';

export const RUBRIC_FILE = 'hub_proposal_rubric.json';

export const RubricSchema = z.strictObject({
  items: z
    .array(z.strictObject({ id: z.string().min(1).max(64), label: z.string().max(500) }))
    .min(1)
    .max(100),
});
export type RubricItem = z.output<typeof RubricSchema>['items'][number];

export const DEFAULT_RUBRIC: RubricItem[] = [
  { id: 'accurate', label: 'What it says is right' },
  { id: 'no_secrets', label: 'It holds no password, key or token' },
  { id: 'matches_intent', label: 'It does what its intent says, and nothing else' },
  { id: 'pii', label: 'It holds no personal data that does not belong here' },
  { id: 'tone', label: 'It is fit to be read by everybody who may see it' },
];
