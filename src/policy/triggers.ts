import * as z from 'zod';

export const TRIGGERS_FILE = 'hub_proposal_review_triggers.json';

const where = {
  review_queue: z.string().trim().min(1).max(64).optional(),
  review_severity: z.enum(['standard', 'elevated']).optional(),
};

/** Rules that send a proposal to review whatever the policy says. */
export const TriggersSchema = z.strictObject({
  literal_phrases: z
    .array(z.strictObject({ match: z.string().min(1).max(128), ...where }))
    .max(200)
    .default([]),
  path_prefixes: z
    .array(z.strictObject({ prefix: z.string().min(1).max(1_024), ...where }))
    .max(64)
    .default([]),
  label_any: z
    .array(z.strictObject({ labels: z.array(z.string().min(1)).min(1).max(32), ...where }))
    .max(64)
    .default([]),
});

export type Triggers = z.output<typeof TriggersSchema>;
export const NO_TRIGGERS: Triggers = { literal_phrases: [], path_prefixes: [], label_any: [] };

export interface Flagged {
  reasons: string[];
  review_queue: string | undefined;
  review_severity: 'standard' | 'elevated';
}

const MAX_REASONS = 32;
const MAX_REASON = 256;
const MAX_PHRASE_SHOWN = 48;

interface Hit {
  reason: string;
  review_queue?: string | undefined;
  review_severity?: 'standard' | 'elevated' | undefined;
}

/** Pure: which rules a proposal hits. The last queue wins, the highest severity wins. */
export function flag(
  triggers: Triggers,
  proposal: { path: string; body: string; intent: string; labels: readonly string[] },
): Flagged {
  const text = `${proposal.path}\n${proposal.body}\n${proposal.intent}`.toLowerCase();
  const labels = new Set(proposal.labels.map((label) => label.toLowerCase()));
  const hits: Hit[] = [
    ...triggers.literal_phrases
      .filter(({ match }) => text.includes(match.toLowerCase()))
      .map((rule) => ({ ...rule, reason: `phrase:${rule.match.slice(0, MAX_PHRASE_SHOWN)}` })),
    ...triggers.path_prefixes
      .filter(({ prefix }) => isUnder(proposal.path, prefix))
      .map((rule) => ({ ...rule, reason: `path_prefix:${rule.prefix}` })),
    ...triggers.label_any
      .filter((rule) => rule.labels.some((label) => labels.has(label.toLowerCase())))
      .map((rule) => ({ ...rule, reason: `label_any:${rule.labels.join(',')}` })),
  ];
  return {
    reasons: hits.slice(0, MAX_REASONS).map(({ reason }) => reason.slice(0, MAX_REASON)),
    review_queue: hits.findLast(({ review_queue }) => review_queue !== undefined)?.review_queue,
    review_severity: hits.some(({ review_severity }) => review_severity === 'elevated') ? 'elevated' : 'standard',
  };
}

/** Equal to the prefix or inside the folder it names. */
export function isUnder(path: string, prefix: string): boolean {
  const folder = prefix.replace(/^\/+|\/+$/g, '');
  return path === folder || path.startsWith(`${folder}/`);
}
